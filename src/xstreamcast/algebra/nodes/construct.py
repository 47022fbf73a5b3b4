"""Expressions that make nodes."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from xstreamcast.algebra.nodes.operands import Namespaces
from xstreamcast.algebra.nodes.place import NOWHERE
from xstreamcast.errors import Span
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.algebra.plan import Expression


class StaticName(NamedTuple):
    """A name resolved at compile time."""

    prefix: str
    local: str
    uri: str


@dataclass(frozen=True, slots=True)
class ComputedName:
    """A name computed per row: a QName, or a string whose prefix `scope` resolves.

    `scope` holds the default element namespace under the empty prefix where one is declared.
    """

    value: Expression
    scope: Namespaces


NodeName: TypeAlias = StaticName | ComputedName


class CopyMode(NamedTuple):
    """declare copy-namespaces, where it applies."""

    preserve: bool = True
    inherit: bool = True


COPY_ALL: Final = CopyMode()


@dataclass(frozen=True, slots=True)
class MakeDocument:
    """document { content }"""

    content: Expression
    copy: CopyMode = COPY_ALL
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class MakeElement:
    """An element; direct and computed constructors alike.

    `namespaces`: bindings the element gets besides those its names need (declared here or in an
    enclosing direct constructor). `attributes`: written as such, in order. `content`: the parts in
    order, each atomised runs joined by spaces on its own, so literal text is a string constant.
    `nested`: it is by itself in a direct constructor, so it is a part of it and no copy.
    """

    name: NodeName
    namespaces: Namespaces
    attributes: tuple[MakeAttribute, ...]
    content: tuple[Expression, ...]
    copy: CopyMode = COPY_ALL
    nested: bool = False
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class MakeAttribute:
    """An attribute: the strings of its parts, each joined by spaces on its own, end to end."""

    name: NodeName
    parts: tuple[Expression, ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class MakeText:
    """text { content }: nothing if the content is empty."""

    content: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class MakeComment:
    """comment { content }"""

    content: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class MakePi:
    """processing-instruction target { content }; a computed target is an expression."""

    target: str | Expression
    content: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class MakeNamespace:
    """namespace prefix { content }; a computed prefix is an expression."""

    prefix: str | Expression
    content: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)
