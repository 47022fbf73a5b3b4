"""Expressions other than FLWOR and constructors."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from xstreamcast.model.frozen import dataclass
from xstreamcast.syntax.tree.names import NOWHERE, Name, Span

if TYPE_CHECKING:
    from xstreamcast.syntax.tree import Expr
    from xstreamcast.syntax.tree.prolog_parts import Annotation, Param
    from xstreamcast.syntax.tree.types import NamesTest, NodeTest, SingleType, TypeExpr

Axis = Literal[
    "child",
    "descendant",
    "attribute",
    "self",
    "descendant-or-self",
    "following-sibling",
    "following",
    "namespace",
    "parent",
    "ancestor",
    "preceding-sibling",
    "preceding",
    "ancestor-or-self",
]


@dataclass(frozen=True, slots=True)
class VarRef:
    """`$name`."""

    name: Name
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ContextItemExpr:
    """`.`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sequence:
    """`(a, b, …)`; `()` has no items; one item alone is wrapped only where
    it is a direct constructor in braces in another's content: `<a>{<b/>}</a>` makes a copy of b.
    """

    items: tuple[Expr, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Placeholder:
    """`?` among the arguments of a call."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """`f(a, b)`; the arrow is gone: `e => f(a)` → `f(e, a)`."""

    name: Name
    arguments: tuple[Expr | Placeholder, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DynamicFunctionCall:
    """`$f(a, b)`; `e => $f(a)` → `$f(e, a)`."""

    function: Expr
    arguments: tuple[Expr | Placeholder, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NamedFunctionRef:
    """`f#2`."""

    name: Name
    arity: int
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InlineFunction:
    """`function($a as T) as R { body }`."""

    annotations: tuple[Annotation, ...]
    parameters: tuple[Param, ...]
    result: TypeExpr | None
    body: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FilterExpr:
    """`base[p][q]` where the base is no axis step: predicates apply to its complete value."""

    base: Expr
    predicates: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AxisStep:
    """`axis::test[p][q]`, spelled out: `@a` → `attribute::a`, `..` → `parent::node()`."""

    axis: Axis
    test: NodeTest
    predicates: tuple[Expr, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PathExpr:
    """`s1/s2/…`, or from the root when `absolute`; `a//b` → `a/descendant-or-self::node()/b`.

    A relative path has two steps or more; `/` alone has none.
    """

    absolute: bool
    steps: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SimpleMapExpr:
    """`left ! right`."""

    left: Expr
    right: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OrExpr:
    """`a or b or …`, two items or more."""

    items: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AndExpr:
    """`a and b and …`, two items or more."""

    items: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ConcatExpr:
    """`a || b || …`, two items or more."""

    items: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ComparisonExpr:
    """Value (`eq`), general (`=`) or node (`is`, `<<`, `>>`) comparison, by its operator."""

    operator: Literal[
        "eq", "ne", "lt", "le", "gt", "ge", "=", "!=", "<", "<=", ">", ">=", "is", "<<", ">>"
    ]
    left: Expr
    right: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RangeExpr:
    """`low to high`."""

    low: Expr
    high: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ArithmeticExpr:
    """`left + right` and its kin, times included."""

    operator: Literal["+", "-", "*", "div", "idiv", "mod"]
    left: Expr
    right: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class UnaryExpr:
    """`-e` or `+e`."""

    operator: Literal["+", "-"]
    operand: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SetExpr:
    """`union` (also `|`), `intersect`, `except`."""

    operator: Literal["union", "intersect", "except"]
    left: Expr
    right: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InstanceOfExpr:
    """`e instance of T`."""

    operand: Expr
    type: TypeExpr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TreatAs:
    """`e treat as T`."""

    operand: Expr
    type: TypeExpr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CastAs:
    """`e cast as T`."""

    operand: Expr
    type: SingleType
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CastableAs:
    """`e castable as T`."""

    operand: Expr
    type: SingleType
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IfExpr:
    """`if (test) then a else b`."""

    test: Expr
    then: Expr
    otherwise: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class QuantifiedBinding:
    """`$name as T in source` of `some` and `every`."""

    name: Name
    type: TypeExpr | None
    source: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class QuantifiedExpr:
    """`some … satisfies test`, `every … satisfies test`."""

    kind: Literal["some", "every"]
    bindings: tuple[QuantifiedBinding, ...]
    test: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SwitchCaseClause:
    """`case v case w return result`."""

    values: tuple[Expr, ...]
    result: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SwitchExpr:
    """`switch (operand) case … default return default`."""

    operand: Expr
    cases: tuple[SwitchCaseClause, ...]
    default: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TypeCaseClause:
    """`case $name as T | U return result`."""

    name: Name | None
    types: tuple[TypeExpr, ...]
    result: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TypeSwitchExpr:
    """`typeswitch (operand) case … default $name return default`."""

    operand: Expr
    cases: tuple[TypeCaseClause, ...]
    default_name: Name | None
    default: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CatchClause:
    """`catch name | * { body }`; inside, the `err:` variables are in scope."""

    tests: tuple[NamesTest, ...]
    body: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TryCatch:
    """`try { body } catch … { … }`."""

    body: Expr
    catches: tuple[CatchClause, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ordering:
    """`ordered { body }` or `unordered { body }`."""

    ordered: bool
    body: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pragma:
    """`(# name content #)`."""

    name: Name
    content: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Extension:
    """Pragmas before `{ body }`; `body` None is `{}`, XQST0079 unless a pragma is known."""

    pragmas: tuple[Pragma, ...]
    body: Expr | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)
