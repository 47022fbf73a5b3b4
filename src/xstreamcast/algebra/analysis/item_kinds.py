"""Static analysis of expressions: kinds and numbers of items, and what a predicate is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Literal

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.nodes.static_type import (
    ANYTHING,
    ATOMIC,
    EMPTY,
    ITEM,
    NODE,
    NODES,
    NUMBER,
    TEXT,
    TRUTH,
    Kinds,
    StaticType,
    of_sequence_type,
    of_tag,
)
from xstreamcast.functions.signature import FN
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.sequence_type import AtomicItem, AtomicUnion

Predicate = Literal["position", "truth", "either"]


@dataclass(frozen=True, slots=True)
class TypeContext:
    """What is known around an expression: types of variables, and of the context item if any."""

    variables: Mapping[p.Variable, StaticType] = field(default_factory=dict)
    focus: StaticType = ITEM

    def bind(self, variable: p.Variable | None, kind: StaticType) -> TypeContext:
        """With one more variable."""
        if variable is None:
            return self
        return replace(self, variables={**self.variables, variable: kind})


NOTHING = TypeContext()


def predicate_class(predicate: p.Expression, around: TypeContext = NOTHING) -> Predicate:
    """Whether a predicate is a position or a truth value, or depends on its value."""
    kind = static_type(predicate, around)
    if kind.one and kind.only(Kinds.NUMERIC):
        return "position"
    if not kind.kinds & Kinds.NUMERIC:
        return "truth"
    return "either"


def position_free(predicate: p.Expression, around: TypeContext = NOTHING) -> bool:
    """Whether a predicate decides for each item alone: no position, no size of the context.

    e/axis::t[p] = (e/axis::t)[p]     if so
    """
    known = facts(predicate)
    if known.position or known.last:
        return False
    return predicate_class(predicate, around) == "truth"


def static_type(plan: p.Expression, around: TypeContext = NOTHING) -> StaticType:
    """What every value of the expression has in common."""
    match plan:
        case p.Const(atoms):
            kinds = [StaticType(of_tag(atom.tag)) for atom in atoms]
            return _sum(kinds)
        case p.Var(variable):
            return around.variables.get(variable, ANYTHING)
        case p.Comma(parts):
            return _sum([static_type(part, around) for part in parts])
        case p.Range():
            return StaticType(Kinds.NUMERIC, 0, None)
        case p.Arithmetic("idiv", left, right):
            low = min(static_type(left, around).low, static_type(right, around).low, 1)
            return StaticType(Kinds.NUMERIC, low, 1)
        case p.Arithmetic(_, left, right):
            return _arithmetic(static_type(left, around), static_type(right, around))
        case p.Unary(_, operand):
            return StaticType(Kinds.NUMERIC, min(1, static_type(operand, around).low), 1)
        case p.StringConcat():
            return TEXT
        case p.GeneralCompare() | p.And() | p.Or() | p.Quantified() | p.InstanceOf():
            return TRUTH
        case p.Castable() | p.AllenCompare():
            return TRUTH
        case p.ValueCompare(_, left, right) | p.NodeCompare(_, left, right):
            low = min(static_type(left, around).low, static_type(right, around).low, 1)
            return StaticType(Kinds.BOOLEAN, low, 1)
        case p.If(_, then, otherwise):
            return static_type(then, around).either(static_type(otherwise, around))
        case p.Return(source, result):
            return _flwor(source, result, around)
        case p.Treat(operand, kind) | p.Convert(operand, kind):
            return _narrowed(static_type(operand, around), of_sequence_type(kind), plan)
        case p.Cast(operand, target, optional):
            return _cast(target, optional and static_type(operand, around).low == 0)
        case _:
            return _other(plan, around)


def _other(plan: p.Expression, around: TypeContext) -> StaticType:
    match plan:
        case p.Focus():
            return around.focus
        case p.Position() | p.Last() | p.LastVersion():
            return NUMBER
        case p.TreeRoot():
            return NODE
        case p.Step(source, axis, _):
            return _step(static_type(source, around), axis)
        case p.Path(left, right):
            outer = static_type(left, around)
            inner = static_type(right, replace(around, focus=NODE))
            return outer.times(inner).without_order()
        case p.SimpleMap(left, right):
            outer = static_type(left, around)
            return outer.times(static_type(right, replace(around, focus=outer.each())))
        case p.Filter(source, predicate):
            kind = static_type(source, around)
            inside = replace(around, focus=kind.each())
            single = predicate_class(predicate, inside) == "position" and not _moves(predicate)
            return StaticType(kind.kinds, 0, 1 if single else kind.high)
        case p.SetOperation():
            return NODES
        case p.StreamInput() | p.IntervalProjection() | p.VersionProjection():
            return NODES
        case p.Call(function, (operand,)) if (function.uri, function.local) == (FN, "data"):
            return _atomized(static_type(operand, around))
        case p.Call(function):
            return of_sequence_type(function.result)
        case _:
            return _made(plan, around)


def _atomized(kind: StaticType) -> StaticType:
    """The values of items: nodes have untyped ones, or texts; an array may have any number."""
    if kind.kinds & Kinds.FUNCTION:
        return StaticType(ATOMIC, 0, None)
    texts = Kinds.UNTYPED | Kinds.STRING if kind.kinds & Kinds.NODE else Kinds(0)
    return kind._replace(kinds=(kind.kinds & ~Kinds.NODE) | texts)


def _made(plan: p.Expression, around: TypeContext) -> StaticType:
    match plan:
        case p.FunctionRef() | p.UserRef() | p.Inline() | p.Partial():
            return StaticType(Kinds.FUNCTION)
        case p.MakeMap() | p.MakeArray():
            return StaticType(Kinds.FUNCTION)
        case p.SetVariable():
            return EMPTY
        case p.Block(_, result):
            return static_type(result, around)
        case p.MakeText():
            return StaticType(Kinds.NODE, 0, 1)
        case p.MakeDocument() | p.MakeElement() | p.MakeAttribute():
            return NODE
        case p.MakeComment() | p.MakePi() | p.MakeNamespace():
            return NODE
        case p.Instant():
            return StaticType(Kinds.OTHER)
        case p.LifespanBound():
            return StaticType(Kinds.OTHER, 0, 1)
        case _:
            # switch, typeswitch, try, calls of functions whose result is not declared: anything
            return ANYTHING


def _sum(parts: list[StaticType]) -> StaticType:
    total = EMPTY
    for part in parts:
        total = total.then(part)
    return total


def _arithmetic(left: StaticType, right: StaticType) -> StaticType:
    """Numbers and text of nodes give numbers; anything may be a date or a duration."""
    plain = Kinds.NUMERIC | Kinds.UNTYPED | Kinds.NODE
    numbers = left.only(plain) and right.only(plain)
    low = min(left.low, right.low, 1)
    return StaticType(Kinds.NUMERIC if numbers else Kinds.NUMERIC | Kinds.OTHER, low, 1)


def _narrowed(value: StaticType, declared: StaticType, plan: p.Expression) -> StaticType:
    """A check leaves the value as it is; a conversion changes the kinds."""
    kinds = declared.kinds
    if isinstance(plan, p.Treat):
        kinds = declared.kinds & value.kinds
    low = max(value.low, declared.low) if isinstance(plan, p.Treat) else declared.low
    highs = [high for high in (value.high, declared.high) if high is not None]
    high = min(highs) if highs and isinstance(plan, p.Treat) else declared.high
    return StaticType(kinds, low, high)


def _cast(target: p.CastTarget, may_be_empty: bool) -> StaticType:
    match target:
        case AtomicItem(tag):
            return StaticType(of_tag(tag), 0 if may_be_empty else 1, 1)
        case AtomicUnion():
            return StaticType(ATOMIC, 0 if may_be_empty else 1, 1)
        case p.ListTarget():
            return StaticType(Kinds.STRING, 0, None)


def _step(source: StaticType, axis: str) -> StaticType:
    if axis in ("self", "parent"):
        return StaticType(Kinds.NODE, 0, source.high)
    return NODES


def _moves(predicate: p.Expression) -> bool:
    """Whether a position differs from item to item, as [position()] does."""
    known = facts(predicate)
    return known.focus or known.position


def _flwor(source: p.Tuples, result: p.Expression, around: TypeContext) -> StaticType:
    count, inside = tuples_type(source, around)
    return count.times(static_type(result, inside))


def tuples_type(plan: p.Tuples, around: TypeContext = NOTHING) -> tuple[StaticType, TypeContext]:
    """How many tuples a stream has (as if they were items), and what is known of its variables."""
    match plan:
        case p.Unit():
            return StaticType(Kinds.NODE), around
        case p.ForEach(source, variable, items, position, allowing_empty):
            count, inside = tuples_type(source, around)
            many = static_type(items, inside)
            one = many.each()
            if allowing_empty:
                high = None if many.high is None else max(many.high, 1)
                one, many = one._replace(low=0), many._replace(low=max(many.low, 1), high=high)
            inside = inside.bind(variable, one).bind(position, NUMBER)
            return count.times(many._replace(kinds=Kinds.NODE)), inside
        case p.Let(source, variable, value):
            count, inside = tuples_type(source, around)
            return count, inside.bind(variable, static_type(value, inside))
        case p.Where(source):
            count, inside = tuples_type(source, around)
            return count.fewer(), inside
        case p.OrderBy(source):
            return tuples_type(source, around)
        case p.CountTuples(source, variable):
            count, inside = tuples_type(source, around)
            return count, inside.bind(variable, NUMBER)
        case p.TupleJoin(left, right):
            first, inside = tuples_type(left, around)
            second, inside = tuples_type(right, inside)
            return first.times(second).fewer(), inside
        case p.GroupBy(source, keys, carried):
            return _grouped(source, keys, carried, around)
        case p.ForWindow():
            return _windows(plan, around)


def _grouped(
    source: p.Tuples,
    keys: tuple[p.GroupKey, ...],
    carried: tuple[tuple[p.Variable, p.Variable], ...],
    around: TypeContext,
) -> tuple[StaticType, TypeContext]:
    count, inside = tuples_type(source, around)
    outside = inside
    for key in keys:
        outside = outside.bind(key.variable, StaticType(ATOMIC, 0, 1))
    for before, after in carried:
        each = inside.variables.get(before, ANYTHING)
        outside = outside.bind(after, StaticType(each.kinds, each.low, None))
    return count.without_order(), outside


def _windows(plan: p.ForWindow, around: TypeContext) -> tuple[StaticType, TypeContext]:
    count, inside = tuples_type(plan.source, around)
    items = static_type(plan.items, inside)
    inside = inside.bind(plan.variable, StaticType(items.kinds, 1, None))
    for boundary in (plan.start, plan.end):
        if boundary is not None:
            inside = inside.bind(boundary.current, items.each()).bind(boundary.position, NUMBER)
            inside = inside.bind(boundary.previous, StaticType(items.kinds, 0, 1))
            inside = inside.bind(boundary.next, StaticType(items.kinds, 0, 1))
    return StaticType(Kinds.NODE, 0, 0 if count.high == 0 else None), inside
