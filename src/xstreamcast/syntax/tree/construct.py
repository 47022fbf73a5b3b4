"""Constructors; boundary space is already stripped or kept as the prolog declares."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from xstreamcast.model.frozen import dataclass
from xstreamcast.syntax.tree.names import NOWHERE, Name, Span

if TYPE_CHECKING:
    from xstreamcast.syntax.tree import Expr


@dataclass(frozen=True, slots=True)
class Text:
    """Literal characters in a direct constructor or a string constructor, references resolved."""

    value: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DirectAttribute:
    """`name="text{enclosed}text"`: adjacent texts are one; each enclosed expression is one part."""

    name: Name
    parts: tuple[Text | Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NamespaceAttribute:
    """`xmlns:prefix="uri"`, or `xmlns="uri"` when the prefix is empty."""

    prefix: str
    uri: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DirectElement:
    """`<name a="…">content</name>`; content: text, constructors, enclosed expressions."""

    name: Name
    namespaces: tuple[NamespaceAttribute, ...] = ()
    attributes: tuple[DirectAttribute, ...] = ()
    content: tuple[Text | Expr, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DirectComment:
    """`<!--value-->`."""

    value: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DirectPI:
    """`<?target value?>`."""

    target: str
    value: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ComputedElement:
    """`element name { content }` or `element { name } { content }`."""

    name: Name | Expr
    content: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ComputedAttribute:
    """`attribute name { content }` or `attribute { name } { content }`."""

    name: Name | Expr
    content: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ComputedDocument:
    """`document { content }`."""

    content: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ComputedText:
    """`text { content }`."""

    content: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ComputedComment:
    """`comment { content }`."""

    content: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ComputedPI:
    """`processing-instruction target { content }`; a `str` target is written in the text."""

    target: str | Expr
    content: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ComputedNamespace:
    """`namespace prefix { uri }`; a `str` prefix is written in the text."""

    prefix: str | Expr
    uri: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StringConstructor:
    """A backquoted string with interpolated expressions, each joined with single spaces."""

    parts: tuple[Text | Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)
