"""Expressions that make maps and arrays, and that look into them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xstreamcast.algebra.nodes.place import NOWHERE
from xstreamcast.errors import Span

if TYPE_CHECKING:
    from xstreamcast.algebra.plan import Expression


@dataclass(frozen=True, slots=True)
class MakeMap:
    """map { k : v, … }: keys[i] is the key of values[i]; XQDY0137 if a key comes twice."""

    keys: tuple[Expression, ...]
    values: tuple[Expression, ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class MakeArray:
    """[a, b, …], each operand a member; or array { e } (`each`), every item a member."""

    members: tuple[Expression, ...]
    each: bool = False
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Lookup:
    """e?(key): what each map and array of e holds under each key; `key` None is ?*."""

    operand: Expression
    key: Expression | None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)
