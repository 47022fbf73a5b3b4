"""The prolog: one node per declaration, in the order of the text."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from xstreamcast.errors import Source
from xstreamcast.model.frozen import dataclass
from xstreamcast.syntax.tree.names import NOWHERE, Name, Span

if TYPE_CHECKING:
    from xstreamcast.syntax.tree import Expr
    from xstreamcast.syntax.tree.prolog_parts import Annotation, Param
    from xstreamcast.syntax.tree.types import TypeExpr

UNNAMED = Source("query", "")


@dataclass(frozen=True, slots=True)
class BoundarySpaceDecl:
    """`declare boundary-space preserve|strip`."""

    preserve: bool
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DefaultCollationDecl:
    """`declare default collation "uri"`."""

    uri: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BaseUriDecl:
    """`declare base-uri "uri"`."""

    uri: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ConstructionDecl:
    """`declare construction preserve|strip`."""

    preserve: bool
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OrderingModeDecl:
    """`declare ordering ordered|unordered`."""

    ordered: bool
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EmptyOrderDecl:
    """`declare default order empty greatest|least`."""

    greatest: bool
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CopyNamespacesDecl:
    """`declare copy-namespaces preserve|no-preserve, inherit|no-inherit`."""

    preserve: bool
    inherit: bool
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DecimalFormatDecl:
    """`declare decimal-format name property = "value" …`; `name` None is the default."""

    name: Name | None
    properties: tuple[tuple[str, str], ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DefaultNamespaceDecl:
    """`declare default element|function namespace "uri"`."""

    kind: Literal["element", "function"]
    uri: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NamespaceDecl:
    """`declare namespace prefix = "uri"`."""

    prefix: str
    uri: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ModuleImport:
    """`import module namespace prefix = "uri" at "place", …`; `prefix` None binds none."""

    prefix: str | None
    uri: str
    places: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ContextItemDecl:
    """`declare context item as T := value`; `external` with a value has a default."""

    type: TypeExpr | None
    value: Expr | None
    external: bool
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class VariableDecl:
    """`declare %a variable $name as T := value`; `external` with a value has a default."""

    annotations: tuple[Annotation, ...]
    name: Name
    type: TypeExpr | None
    value: Expr | None
    external: bool
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionDecl:
    """`declare %a function name($p as T) as R { body }`; `body` None is `external`."""

    annotations: tuple[Annotation, ...]
    name: Name
    parameters: tuple[Param, ...]
    result: TypeExpr | None
    body: Expr | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OptionDecl:
    """`declare option name "value"`."""

    name: Name
    value: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StreamDecl:
    """`declare stream name := value`: a query of its own, whose answer others read as a stream."""

    name: str
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExecutionDecl:
    """`declare execution sequential`: bindings are evaluated one after another, in order."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


Declaration = (
    BoundarySpaceDecl
    | DefaultCollationDecl
    | BaseUriDecl
    | ConstructionDecl
    | OrderingModeDecl
    | EmptyOrderDecl
    | CopyNamespacesDecl
    | DecimalFormatDecl
    | DefaultNamespaceDecl
    | NamespaceDecl
    | ModuleImport
    | ContextItemDecl
    | VariableDecl
    | FunctionDecl
    | OptionDecl
    | StreamDecl
    | ExecutionDecl
)


@dataclass(frozen=True, slots=True)
class VersionDecl:
    """`xquery version "3.1" encoding "utf-8"`; either may be missing."""

    version: str | None
    encoding: str | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Module:
    """A main module: declarations, then the body; spans count in `source.text`."""

    version: VersionDecl | None
    prolog: tuple[Declaration, ...]
    body: Expr
    source: Source = field(default=UNNAMED, compare=False, repr=False)
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LibraryModule:
    """A library module: `module namespace prefix = "uri";` and what it declares."""

    version: VersionDecl | None
    prefix: str
    uri: str
    prolog: tuple[Declaration, ...]
    source: Source = field(default=UNNAMED, compare=False, repr=False)
    span: Span = field(default=NOWHERE, compare=False, repr=False)
