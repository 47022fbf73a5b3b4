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
    AndExpr,
    ArithmeticExpr,
    Axis,
    AxisStep,
    CastableAs,
    CastAs,
    CatchClause,
    ComparisonExpr,
    ConcatExpr,
    ContextItemExpr,
    DynamicFunctionCall,
    Extension,
    FilterExpr,
    FunctionCall,
    IfExpr,
    InlineFunction,
    InstanceOfExpr,
    NamedFunctionRef,
    Ordering,
    OrExpr,
    PathExpr,
    Placeholder,
    Pragma,
    QuantifiedBinding,
    QuantifiedExpr,
    RangeExpr,
    Sequence,
    SetExpr,
    SimpleMapExpr,
    SwitchCaseClause,
    SwitchExpr,
    TreatAs,
    TryCatch,
    TypeCaseClause,
    TypeSwitchExpr,
    UnaryExpr,
    VarRef,
)
from xstreamcast.syntax.tree.flwor import (
    Clause,
    CountClause,
    Flwor,
    ForClause,
    GroupByClause,
    GroupingSpec,
    LetClause,
    NewStart,
    OrderByClause,
    OrderSpec,
    WhereClause,
    WindowClause,
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
    LookupExpr,
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
    Param,
)
from xstreamcast.syntax.tree.temporal import (
    AllenWord,
    Assign,
    BlockExpr,
    IntervalComparison,
    IntervalExpr,
    IntervalProjectionExpr,
    VersionProjectionExpr,
)
from xstreamcast.syntax.tree.types import (
    AnyItemTest,
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
    SingleType,
    TextTest,
    TypeExpr,
)

Expr = (
    StringLiteral
    | IntegerLiteral
    | DecimalLiteral
    | DoubleLiteral
    | TimeLiteral
    | TimeConstant
    | VarRef
    | ContextItemExpr
    | Sequence
    | FunctionCall
    | DynamicFunctionCall
    | NamedFunctionRef
    | InlineFunction
    | FilterExpr
    | AxisStep
    | PathExpr
    | SimpleMapExpr
    | OrExpr
    | AndExpr
    | ConcatExpr
    | ComparisonExpr
    | RangeExpr
    | ArithmeticExpr
    | UnaryExpr
    | SetExpr
    | InstanceOfExpr
    | TreatAs
    | CastAs
    | CastableAs
    | IfExpr
    | QuantifiedExpr
    | SwitchExpr
    | TypeSwitchExpr
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
    | LookupExpr
    | IntervalProjectionExpr
    | VersionProjectionExpr
    | IntervalComparison
    | BlockExpr
)
"""An expression, wherever a value is expected."""

__all__ = [
    "NOWHERE",
    "AllenWord",
    "AndExpr",
    "Annotation",
    "AnyItemTest",
    "AnyKindTest",
    "AnyLocal",
    "AnyName",
    "AnyNamespace",
    "ArithmeticExpr",
    "ArrayTest",
    "Assign",
    "AttributeTest",
    "Axis",
    "AxisStep",
    "BaseUriDecl",
    "BlockExpr",
    "BoundarySpaceDecl",
    "CastAs",
    "CastableAs",
    "CatchClause",
    "Clause",
    "CommentTest",
    "ComparisonExpr",
    "ComputedAttribute",
    "ComputedComment",
    "ComputedDocument",
    "ComputedElement",
    "ComputedNamespace",
    "ComputedPI",
    "ComputedText",
    "ConcatExpr",
    "ConstructionDecl",
    "ContextItemDecl",
    "ContextItemExpr",
    "CopyNamespacesDecl",
    "CountClause",
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
    "DynamicFunctionCall",
    "ElementTest",
    "EmptyOrderDecl",
    "ExecutionDecl",
    "Expr",
    "Extension",
    "FilterExpr",
    "Flwor",
    "ForClause",
    "FunctionCall",
    "FunctionDecl",
    "FunctionTest",
    "GroupByClause",
    "GroupingSpec",
    "IfExpr",
    "InlineFunction",
    "InstanceOfExpr",
    "IntegerLiteral",
    "IntervalComparison",
    "IntervalExpr",
    "IntervalProjectionExpr",
    "ItemType",
    "KindTest",
    "LetClause",
    "LibraryModule",
    "LookupExpr",
    "MapConstructor",
    "MapEntry",
    "MapTest",
    "Module",
    "ModuleImport",
    "Name",
    "NameTest",
    "NamedFunctionRef",
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
    "OrExpr",
    "OrderByClause",
    "OrderSpec",
    "Ordering",
    "OrderingModeDecl",
    "PITest",
    "Param",
    "PathExpr",
    "Placeholder",
    "Pragma",
    "QuantifiedBinding",
    "QuantifiedExpr",
    "RangeExpr",
    "SchemaAttributeTest",
    "SchemaElementTest",
    "Sequence",
    "SetExpr",
    "SimpleMapExpr",
    "SingleType",
    "Span",
    "SquareArray",
    "StreamDecl",
    "StringConstructor",
    "StringLiteral",
    "SwitchCaseClause",
    "SwitchExpr",
    "Text",
    "TextTest",
    "TimeConstant",
    "TimeKind",
    "TimeLiteral",
    "TreatAs",
    "TryCatch",
    "TypeCaseClause",
    "TypeExpr",
    "TypeSwitchExpr",
    "UnaryExpr",
    "VarRef",
    "VariableDecl",
    "VersionDecl",
    "VersionProjectionExpr",
    "WhereClause",
    "WindowClause",
    "WindowEnd",
    "WindowStart",
    "WindowVariable",
]
