"""Maps, arrays and lookups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xstreamcast.syntax.tree.names import NOWHERE, Span

if TYPE_CHECKING:
    from xstreamcast.syntax.tree import Expr


@dataclass(frozen=True, slots=True)
class MapEntry:
    """`key : value` in a map constructor."""

    key: Expr
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MapConstructor:
    """`map { k : v, … }`."""

    entries: tuple[MapEntry, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SquareArray:
    """`[a, b, …]`: each expression is a member."""

    members: tuple[Expr, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CurlyArray:
    """`array { e }`: each item is a member."""

    body: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LookupExpr:
    """`e?key`, `e?1`, `e?(k)`, `e?*` (`key` None); `?key` alone looks into the context item."""

    base: Expr
    key: Expr | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)
