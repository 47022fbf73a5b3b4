"""Generated trees: every kind of node, names that are also words of the language."""

from __future__ import annotations

from decimal import Decimal
from functools import cache

from hypothesis import strategies as st

from tests.syntax import tree_parts as parts
from xstreamcast.syntax import tree as t
from xstreamcast.syntax.lexing import ALLEN

Exprs = st.SearchStrategy[t.Expr]


def tuples(children: st.SearchStrategy[object], low: int = 0, high: int = 3) -> st.SearchStrategy:
    return st.lists(children, min_size=low, max_size=high).map(tuple)


leaves: Exprs = st.one_of(
    st.builds(t.StringLiteral, parts.texts),
    st.builds(t.IntegerLiteral, st.integers(0, 10**30)),
    st.builds(t.DecimalLiteral, st.decimals(0, 10**9, allow_nan=False).map(abs)),
    st.builds(t.DoubleLiteral, st.floats(0, allow_nan=False).map(abs)),
    st.builds(t.DecimalLiteral, st.just(Decimal("7"))),
    st.builds(t.VarRef, parts.names),
    st.just(t.ContextItemExpr()),
    st.just(t.Sequence()),
    st.just(t.PathExpr(True, ())),
    st.builds(t.AxisStep, parts.axes, parts.node_tests),
    st.builds(t.NamedFunctionRef, parts.function_names, st.integers(0, 9)),
    st.builds(t.DirectElement, parts.lexical_names),
    st.builds(t.DirectComment, parts.plain),
    st.builds(t.DirectPI, parts.targets, parts.plain.map(str.lstrip)),
    st.builds(t.StringConstructor, st.just(())),
)

durations = st.sampled_from(
    [
        t.TimeLiteral("dayTimeDuration", "PT1H"),
        t.TimeLiteral("yearMonthDuration", "P1M"),
        t.TimeLiteral("duration", "P1Y2DT0.5S"),
    ]
)
instants = st.one_of(
    st.builds(t.TimeConstant, st.sampled_from(["now", "start", "last"])),
    st.just(t.TimeLiteral("date", "2003-11-01")),
    st.just(t.TimeLiteral("dateTime", "2003-11-01T10:00:00Z")),
)


def bounds(children: Exprs) -> Exprs:
    """What stands in the brackets of a projection."""
    moved = st.builds(t.ArithmeticExpr, st.sampled_from("+-"), instants, durations)
    walked = st.builds(t.PathExpr, st.just(False), st.tuples(instants, children))
    called = st.builds(t.FunctionCall, parts.function_names, st.tuples(instants))
    return st.one_of(instants, durations, moved, walked, called, children)


def operators(e: Exprs) -> list[Exprs]:
    compare = ["eq", "ne", "lt", "le", "gt", "ge", "is", "<<", ">>"]
    compare += ["=", "!=", "<", "<=", ">", ">="]
    return [
        st.builds(t.OrExpr, tuples(e, 2)),
        st.builds(t.AndExpr, tuples(e, 2)),
        st.builds(t.ConcatExpr, tuples(e, 2)),
        st.builds(t.ComparisonExpr, st.sampled_from(compare), e, e),
        st.builds(t.RangeExpr, e, e),
        st.builds(t.ArithmeticExpr, st.sampled_from(["+", "-", "*", "div", "idiv", "mod"]), e, e),
        st.builds(t.UnaryExpr, st.sampled_from("+-"), e),
        st.builds(t.SetExpr, st.sampled_from(["union", "intersect", "except"]), e, e),
        st.builds(t.InstanceOfExpr, e, parts.sequence_types),
        st.builds(t.TreatAs, e, parts.sequence_types),
        st.builds(t.CastAs, e, parts.single_types),
        st.builds(t.CastableAs, e, parts.single_types),
        st.builds(t.SimpleMapExpr, e, e),
    ]


def paths(e: Exprs) -> list[Exprs]:
    arguments = tuples(e | st.just(t.Placeholder()))
    return [
        st.builds(t.Sequence, tuples(e, 2)),
        st.builds(t.FunctionCall, parts.function_names, arguments),
        st.builds(t.DynamicFunctionCall, e, arguments),
        st.builds(t.MapConstructor, tuples(st.builds(t.MapEntry, e, e))),
        st.builds(t.SquareArray, tuples(e)),
        st.builds(t.CurlyArray, e),
        st.builds(t.LookupExpr, e, st.none() | e),
        st.builds(t.FilterExpr, e, tuples(e, 1, 2)),
        st.builds(t.AxisStep, parts.axes, parts.node_tests, tuples(e, 1, 2)),
        st.builds(t.PathExpr, st.just(False), tuples(e, 2)),
        st.builds(t.PathExpr, st.just(True), tuples(e, 1)),
        st.builds(t.IntervalProjectionExpr, e, bounds(e), st.none() | bounds(e)),
        st.builds(t.VersionProjectionExpr, e, bounds(e), st.none() | bounds(e)),
    ]


def intervals(e: Exprs) -> Exprs:
    interval = st.builds(t.IntervalExpr, bounds(e), st.none() | bounds(e))
    words = sorted(ALLEN)
    return st.builds(t.IntervalComparison, st.sampled_from(words), e | interval, e | interval)


def control(e: Exprs) -> list[Exprs]:
    binding = st.builds(t.QuantifiedBinding, parts.names, parts.declared_types, e)
    type_case = st.builds(t.TypeCaseClause, parts.maybe_names, tuples(parts.sequence_types, 1), e)
    catch = st.builds(t.CatchClause, tuples(parts.names_tests, 1), e)
    return [
        st.builds(t.IfExpr, e, e, e),
        st.builds(t.QuantifiedExpr, st.sampled_from(["some", "every"]), tuples(binding, 1), e),
        st.builds(t.SwitchExpr, e, tuples(st.builds(t.SwitchCaseClause, tuples(e, 1), e), 1), e),
        st.builds(t.TypeSwitchExpr, e, tuples(type_case, 1), parts.maybe_names, e),
        st.builds(t.TryCatch, e, tuples(catch, 1)),
        st.builds(t.Ordering, st.booleans(), e),
        st.builds(t.Extension, tuples(parts.pragmas, 1), st.none() | e),
        st.builds(t.InlineFunction, st.just(()), parts.parameters, parts.declared_types, e),
        st.builds(t.BlockExpr, tuples(e | st.builds(t.Assign, parts.names, e), 1), e),
        intervals(e),
    ]


def mixed(e: Exprs, text: st.SearchStrategy[t.Text]) -> st.SearchStrategy:
    """Texts and expressions, no two texts side by side."""

    def apart(found: list[t.Text | t.Expr]) -> tuple[t.Text | t.Expr, ...]:
        pairs = zip([None, *found], found, strict=False)
        return tuple(b for a, b in pairs if not (isinstance(a, t.Text) and isinstance(b, t.Text)))

    return st.lists(text | e, max_size=4).map(apart)


def constructors(e: Exprs) -> list[Exprs]:
    text = st.builds(t.Text, parts.texts.filter(bool))
    attribute = st.builds(t.DirectAttribute, parts.lexical_names, mixed(e, text))
    attributes = st.lists(attribute, max_size=2, unique_by=lambda a: a.name).map(tuple)
    copied = st.builds(t.DirectElement, parts.lexical_names).map(lambda made: t.Sequence((made,)))
    raw = st.builds(t.Text, parts.plain.filter(bool))
    name = parts.names | e
    word = parts.targets | e
    return [
        st.builds(
            t.DirectElement, parts.lexical_names, parts.bound, attributes, mixed(e | copied, text)
        ),
        st.builds(t.StringConstructor, mixed(e, raw)),
        st.builds(t.ComputedElement, name, e),
        st.builds(t.ComputedAttribute, name, e),
        st.builds(t.ComputedDocument, e),
        st.builds(t.ComputedText, e),
        st.builds(t.ComputedComment, e),
        st.builds(t.ComputedPI, word, e),
        st.builds(t.ComputedNamespace, word, e),
    ]


@cache
def _level(depth: int) -> Exprs:
    """Trees of at most this depth."""
    if not depth:
        return leaves
    e = expressions(depth - 1)
    choices = [*operators(e), *paths(e), *control(e), *constructors(e), parts.flwors(e)]
    return leaves | st.one_of(*choices)


@st.composite
def expressions(draw: st.DrawFn, depth: int) -> t.Expr:
    """A strategy that prints as one short word, however much is behind it."""
    return draw(_level(depth))


modules = st.builds(t.Module, parts.versions, parts.prologs(expressions(1)), expressions(2))
