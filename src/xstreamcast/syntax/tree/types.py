"""Sequence types, item types and node tests."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from xstreamcast.model.frozen import dataclass
from xstreamcast.syntax.tree.names import NOWHERE, Name, Span
from xstreamcast.syntax.tree.prolog_parts import Annotation

Occurrence = Literal["", "?", "*", "+", "**"]


@dataclass(frozen=True, slots=True)
class TypeExpr:
    """`item` is None for `empty-sequence()`; `**` marks a potentially infinite sequence."""

    item: ItemType | None
    occurrence: Occurrence = ""
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SingleType:
    """The target of `cast as` and `castable as`: `xs:date` or `xs:date?`."""

    name: Name
    optional: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AnyItemTest:
    """`item()`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NamedType:
    """An atomic or union type by name: `xs:integer`."""

    name: Name
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionTest:
    """`function(*)` (`parameters` is None) or `function(A, B) as C`."""

    annotations: tuple[Annotation, ...] = ()
    parameters: tuple[TypeExpr, ...] | None = None
    result: TypeExpr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MapTest:
    """`map(*)` (both None) or `map(K, V)`."""

    key: NamedType | None = None
    value: TypeExpr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ArrayTest:
    """`array(*)` (None) or `array(M)`."""

    member: TypeExpr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AnyKindTest:
    """`node()`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TextTest:
    """`text()`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CommentTest:
    """`comment()`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NamespaceNodeTest:
    """`namespace-node()`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PITest:
    """`processing-instruction()`, with or without a target."""

    target: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DocumentTest:
    """`document-node()`, with or without a test of its only element."""

    element: ElementTest | SchemaElementTest | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ElementTest:
    """`element(name, type?)`; `name` None is `*`, `type` None is any."""

    name: Name | None = None
    type: Name | None = None
    nillable: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AttributeTest:
    """`attribute(name, type)`; `name` None is `*`, `type` None is any."""

    name: Name | None = None
    type: Name | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SchemaElementTest:
    """`schema-element(name)`: no schema is ever imported, so the lowering refuses it (XPST0008)."""

    name: Name
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SchemaAttributeTest:
    """`schema-attribute(name)`: refused like `schema-element`."""

    name: Name
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NameTest:
    """One name: `a`, `p:a`, `Q{uri}a`."""

    name: Name
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AnyName:
    """`*`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AnyLocal:
    """Every name of one namespace: `p:*` (`uri` None) or `Q{uri}*`."""

    prefix: str = ""
    uri: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AnyNamespace:
    """One local name in every namespace: `*:a`."""

    local: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


KindTest = (
    AnyKindTest
    | TextTest
    | CommentTest
    | NamespaceNodeTest
    | PITest
    | DocumentTest
    | ElementTest
    | AttributeTest
    | SchemaElementTest
    | SchemaAttributeTest
)
NamesTest = NameTest | AnyName | AnyLocal | AnyNamespace
NodeTest = KindTest | NamesTest
ItemType = AnyItemTest | NamedType | FunctionTest | MapTest | ArrayTest | KindTest
