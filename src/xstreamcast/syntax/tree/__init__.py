"""The tree of a query: frozen nodes in closed unions, each with its span of the text."""

from __future__ import annotations

from xstreamcast.syntax.tree.construct import (
    ComputedAttribute,
    ComputedComment,
    ComputedDocument,
    ComputedElement,
    ComputedNamespace,
    ComputedPI,
    ComputedText,
    DirectAttribute,
    DirectComment,
    DirectElement,
    DirectPI,
    NamespaceAttribute,
    StringConstructor,
    Text,
)
from xstreamcast.syntax.tree.expressions import (
    And,
    Arithmetic,
    Axis,
    CastableAs,
    CastAs,
    Catch,
    Comparison,
    Concat,
    ContextItem,
    DynamicCall,
    Extension,
    Filter,
    FunctionCall,
    FunctionRef,
    If,
    InlineFunction,
    InstanceOf,
    Or,
    Ordering,
    Path,
    Placeholder,
    Pragma,
    Quantified,
    QuantifiedBinding,
    Range,
    Sequence,
    SetOperation,
    SimpleMap,
    Step,
    Switch,
    SwitchCase,
    TreatAs,
    TryCatch,
    TypeCase,
    TypeSwitch,
    Unary,
    VarRef,
)
from xstreamcast.syntax.tree.flwor import (
    Clause,
    Count,
    Flwor,
    For,
    GroupBy,
    GroupKey,
    Let,
    NewStart,
    OrderBy,
    OrderKey,
    Where,
    Window,
    WindowEnd,
    WindowStart,
    WindowVariable,
)
from xstreamcast.syntax.tree.literals import (
    DecimalLiteral,
    DoubleLiteral,
    IntegerLiteral,
    NumericLiteral,
    StringLiteral,
    TimeConstant,
    TimeKind,
    TimeLiteral,
)
from xstreamcast.syntax.tree.maps import (
    CurlyArray,
    Lookup,
    MapConstructor,
    MapEntry,
    SquareArray,
)
from xstreamcast.syntax.tree.names import (
    NOWHERE,
    Name,
    Span,
)
from xstreamcast.syntax.tree.prolog import (
    BaseUriDecl,
    BoundarySpaceDecl,
    ConstructionDecl,
    ContextItemDecl,
    CopyNamespacesDecl,
    DecimalFormatDecl,
    Declaration,
    DefaultCollationDecl,
    DefaultNamespaceDecl,
    EmptyOrderDecl,
    ExecutionDecl,
    FunctionDecl,
    LibraryModule,
    Module,
    ModuleImport,
    NamespaceDecl,
    OptionDecl,
    OrderingModeDecl,
    StreamDecl,
    VariableDecl,
    VersionDecl,
)
from xstreamcast.syntax.tree.prolog_parts import (
    Annotation,
    Parameter,
)
from xstreamcast.syntax.tree.temporal import (
    AllenWord,
    Assign,
    Block,
    Interval,
    IntervalComparison,
    IntervalProjection,
    VersionProjection,
)
from xstreamcast.syntax.tree.types import (
    AnyItem,
    AnyKindTest,
    AnyLocal,
    AnyName,
    AnyNamespace,
    ArrayTest,
    AttributeTest,
    CommentTest,
    DocumentTest,
    ElementTest,
    FunctionTest,
    ItemType,
    KindTest,
    MapTest,
    NamedType,
    NamespaceNodeTest,
    NamesTest,
    NameTest,
    NodeTest,
    Occurrence,
    PITest,
    SchemaAttributeTest,
    SchemaElementTest,
    SequenceType,
    SingleType,
    TextTest,
)

Expr = (
    StringLiteral
    | IntegerLiteral
    | DecimalLiteral
    | DoubleLiteral
    | TimeLiteral
    | TimeConstant
    | VarRef
    | ContextItem
    | Sequence
    | FunctionCall
    | DynamicCall
    | FunctionRef
    | InlineFunction
    | Filter
    | Step
    | Path
    | SimpleMap
    | Or
    | And
    | Concat
    | Comparison
    | Range
    | Arithmetic
    | Unary
    | SetOperation
    | InstanceOf
    | TreatAs
    | CastAs
    | CastableAs
    | If
    | Quantified
    | Switch
    | TypeSwitch
    | TryCatch
    | Ordering
    | Extension
    | Flwor
    | DirectElement
    | DirectComment
    | DirectPI
    | ComputedElement
    | ComputedAttribute
    | ComputedDocument
    | ComputedText
    | ComputedComment
    | ComputedPI
    | ComputedNamespace
    | StringConstructor
    | MapConstructor
    | SquareArray
    | CurlyArray
    | Lookup
    | IntervalProjection
    | VersionProjection
    | IntervalComparison
    | Block
)
"""An expression, wherever a value is expected."""

__all__ = [
    "NOWHERE",
    "AllenWord",
    "And",
    "Annotation",
    "AnyItem",
    "AnyKindTest",
    "AnyLocal",
    "AnyName",
    "AnyNamespace",
    "Arithmetic",
    "ArrayTest",
    "Assign",
    "AttributeTest",
    "Axis",
    "BaseUriDecl",
    "Block",
    "BoundarySpaceDecl",
    "CastAs",
    "CastableAs",
    "Catch",
    "Clause",
    "CommentTest",
    "Comparison",
    "ComputedAttribute",
    "ComputedComment",
    "ComputedDocument",
    "ComputedElement",
    "ComputedNamespace",
    "ComputedPI",
    "ComputedText",
    "Concat",
    "ConstructionDecl",
    "ContextItem",
    "ContextItemDecl",
    "CopyNamespacesDecl",
    "Count",
    "CurlyArray",
    "DecimalFormatDecl",
    "DecimalLiteral",
    "Declaration",
    "DefaultCollationDecl",
    "DefaultNamespaceDecl",
    "DirectAttribute",
    "DirectComment",
    "DirectElement",
    "DirectPI",
    "DocumentTest",
    "DoubleLiteral",
    "DynamicCall",
    "ElementTest",
    "EmptyOrderDecl",
    "ExecutionDecl",
    "Expr",
    "Extension",
    "Filter",
    "Flwor",
    "For",
    "FunctionCall",
    "FunctionDecl",
    "FunctionRef",
    "FunctionTest",
    "GroupBy",
    "GroupKey",
    "If",
    "InlineFunction",
    "InstanceOf",
    "IntegerLiteral",
    "Interval",
    "IntervalComparison",
    "IntervalProjection",
    "ItemType",
    "KindTest",
    "Let",
    "LibraryModule",
    "Lookup",
    "MapConstructor",
    "MapEntry",
    "MapTest",
    "Module",
    "ModuleImport",
    "Name",
    "NameTest",
    "NamedType",
    "NamesTest",
    "NamespaceAttribute",
    "NamespaceDecl",
    "NamespaceNodeTest",
    "NewStart",
    "NodeTest",
    "NumericLiteral",
    "Occurrence",
    "OptionDecl",
    "Or",
    "OrderBy",
    "OrderKey",
    "Ordering",
    "OrderingModeDecl",
    "PITest",
    "Parameter",
    "Path",
    "Placeholder",
    "Pragma",
    "Quantified",
    "QuantifiedBinding",
    "Range",
    "SchemaAttributeTest",
    "SchemaElementTest",
    "Sequence",
    "SequenceType",
    "SetOperation",
    "SimpleMap",
    "SingleType",
    "Span",
    "SquareArray",
    "Step",
    "StreamDecl",
    "StringConstructor",
    "StringLiteral",
    "Switch",
    "SwitchCase",
    "Text",
    "TextTest",
    "TimeConstant",
    "TimeKind",
    "TimeLiteral",
    "TreatAs",
    "TryCatch",
    "TypeCase",
    "TypeSwitch",
    "Unary",
    "VarRef",
    "VariableDecl",
    "VersionDecl",
    "VersionProjection",
    "Where",
    "Window",
    "WindowEnd",
    "WindowStart",
    "WindowVariable",
]
