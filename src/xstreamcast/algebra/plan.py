"""The plan: what is computed. Two closed unions, expressions and streams of tuples.

An expression gives a column: a sequence for each row. Tuples give rows. Names, variables, functions
and namespaces are resolved: nothing here looks at the query text again.
"""

from __future__ import annotations

from typing import TypeAlias

from xstreamcast.algebra.nodes.apply import (
    Block,
    Call,
    DynamicCall,
    FunctionRef,
    Inline,
    Parameter,
    Partial,
    SetVariable,
    UserCall,
    UserRef,
)
from xstreamcast.algebra.nodes.construct import (
    ComputedName,
    CopyMode,
    MakeAttribute,
    MakeComment,
    MakeDocument,
    MakeElement,
    MakeNamespace,
    MakePi,
    MakeText,
    NodeName,
    StaticName,
)
from xstreamcast.algebra.nodes.navigate import (
    REVERSE_AXES,
    Axis,
    Filter,
    Focus,
    Last,
    Path,
    Position,
    SetOperation,
    SimpleMap,
    Step,
    StreamInput,
    TreeRoot,
)
from xstreamcast.algebra.nodes.operands import (
    And,
    Arithmetic,
    ArithmeticOp,
    Atom,
    Cast,
    Castable,
    CastTarget,
    Catch,
    CatchVariables,
    Comma,
    CompareOp,
    Const,
    Convert,
    ErrorTest,
    GeneralCompare,
    If,
    InstanceOf,
    ListTarget,
    Namespaces,
    NodeCompare,
    NodeOp,
    Or,
    Quantified,
    Range,
    Return,
    StringConcat,
    Switch,
    SwitchCase,
    Treat,
    Try,
    TypeCase,
    TypeSwitch,
    Unary,
    ValueCompare,
    Var,
    Variable,
)
from xstreamcast.algebra.nodes.place import NOWHERE
from xstreamcast.algebra.nodes.structured import Lookup, MakeArray, MakeMap
from xstreamcast.algebra.nodes.temporal import (
    AllenCompare,
    AllenOp,
    Instant,
    Interval,
    IntervalProjection,
    LastVersion,
    LifespanBound,
    VersionProjection,
    is_current,
    projected_before,
)
from xstreamcast.algebra.nodes.tuples import (
    Boundary,
    CountTuples,
    ForEach,
    ForWindow,
    GroupBy,
    GroupKey,
    JoinKey,
    Let,
    OrderBy,
    OrderKey,
    TupleJoin,
    Unit,
    Where,
)

Expression: TypeAlias = (
    Const
    | Var
    | Comma
    | Range
    | Arithmetic
    | Unary
    | StringConcat
    | GeneralCompare
    | ValueCompare
    | NodeCompare
    | And
    | Or
    | If
    | Switch
    | TypeSwitch
    | Try
    | Quantified
    | Return
    | InstanceOf
    | Treat
    | Convert
    | Cast
    | Castable
    | Focus
    | Position
    | Last
    | TreeRoot
    | Step
    | Path
    | SimpleMap
    | Filter
    | SetOperation
    | StreamInput
    | Call
    | UserCall
    | DynamicCall
    | Partial
    | FunctionRef
    | UserRef
    | Inline
    | SetVariable
    | Block
    | MakeDocument
    | MakeElement
    | MakeAttribute
    | MakeText
    | MakeComment
    | MakePi
    | MakeNamespace
    | MakeMap
    | MakeArray
    | Lookup
    | Instant
    | LastVersion
    | LifespanBound
    | IntervalProjection
    | VersionProjection
    | Interval
    | AllenCompare
)

Tuples: TypeAlias = (
    Unit | ForEach | Let | Where | TupleJoin | GroupBy | OrderBy | CountTuples | ForWindow
)

Plan: TypeAlias = Expression | Tuples

EMPTY = Const(())

__all__ = [
    "EMPTY",
    "NOWHERE",
    "REVERSE_AXES",
    "AllenCompare",
    "AllenOp",
    "And",
    "Arithmetic",
    "ArithmeticOp",
    "Atom",
    "Axis",
    "Block",
    "Boundary",
    "Call",
    "Cast",
    "CastTarget",
    "Castable",
    "Catch",
    "CatchVariables",
    "Comma",
    "CompareOp",
    "ComputedName",
    "Const",
    "Convert",
    "CopyMode",
    "CountTuples",
    "DynamicCall",
    "ErrorTest",
    "Expression",
    "Filter",
    "Focus",
    "ForEach",
    "ForWindow",
    "FunctionRef",
    "GeneralCompare",
    "GroupBy",
    "GroupKey",
    "If",
    "Inline",
    "InstanceOf",
    "Instant",
    "Interval",
    "IntervalProjection",
    "JoinKey",
    "Last",
    "LastVersion",
    "Let",
    "LifespanBound",
    "ListTarget",
    "Lookup",
    "MakeArray",
    "MakeAttribute",
    "MakeComment",
    "MakeDocument",
    "MakeElement",
    "MakeMap",
    "MakeNamespace",
    "MakePi",
    "MakeText",
    "Namespaces",
    "NodeCompare",
    "NodeName",
    "NodeOp",
    "Or",
    "OrderBy",
    "OrderKey",
    "Parameter",
    "Partial",
    "Path",
    "Plan",
    "Position",
    "Quantified",
    "Range",
    "Return",
    "SetOperation",
    "SetVariable",
    "SimpleMap",
    "StaticName",
    "Step",
    "StreamInput",
    "StringConcat",
    "Switch",
    "SwitchCase",
    "Treat",
    "TreeRoot",
    "Try",
    "TupleJoin",
    "Tuples",
    "TypeCase",
    "TypeSwitch",
    "Unary",
    "Unit",
    "UserCall",
    "UserRef",
    "ValueCompare",
    "Var",
    "Variable",
    "VersionProjection",
    "Where",
    "is_current",
    "projected_before",
]
