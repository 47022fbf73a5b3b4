"""Windows for each value of a key: which FLWORs cut the items of each value into windows.

for $u in distinct-values(items/k) for … window $w in items[k = $u]  →  windows of each value
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.walk import bottom_up
from xstreamcast.functions.signature import FN

_NEAR: Final = frozenset({"child", "attribute"})  # what such a step gives has no type


@dataclass(frozen=True, slots=True)
class ByKey:
    """One sequence of windows for each value, in the order in which the values first appear.

    `variable` is bound to the value, `values` are all of them; the items of `source` have the keys
    `key`, which reads `item`.
    """

    variable: p.Variable
    values: p.Expression
    source: p.Expression
    item: p.Variable
    key: p.Expression


def by_key(loop: p.Tuples, window: p.ForWindow) -> tuple[ByKey, p.ForWindow] | None:
    """How a loop around windows gives each of its values windows, and the windows of one value."""
    match loop:
        case p.ForEach(_, variable, p.Call(function, (values,)), None, False) if (
            function.uri,
            function.local,
        ) == (FN, "distinct-values"):
            return _by_key(variable, values, window)
        case _:
            return None


def _by_key(
    variable: p.Variable, values: p.Expression, window: p.ForWindow
) -> tuple[ByKey, p.ForWindow] | None:
    found = _compared(window.items, variable)
    if found is None:
        return None
    source, test, key = found
    named = [_put(key, one) for one in _among(source)]
    if _plain(values) not in map(_plain, named):
        return None
    item = p.Variable(-1000, "item")  # numbers below zero are used here only
    by = ByKey(variable, values, source, item, _put(key, p.Var(item)))
    return by, replace(window, items=p.Filter(source, test, span=window.items.span))


def _compared(
    items: p.Expression, variable: p.Variable
) -> tuple[p.Expression, p.Expression, p.Expression] | None:
    """(source, condition, key) of items whose key is the variable; the focus is the item."""
    match items:
        case p.Filter(source, test, False):
            key = _key(test, variable, p.Focus())
            return None if key is None else (source, test, key)
        case p.Return(p.TupleJoin(p.Unit(), right, (pair,), None), p.Var(item)) if (
            pair.test is not None
        ):
            loop, test = _without_lets(right, pair.test)
            key = _key(test, variable, p.Var(item))
            if key is None or not isinstance(loop, p.ForEach) or loop != _loop(item, loop.items):
                return None
            return loop.items, _focused(test, item), _focused(key, item)
        case _:
            return None


def _without_lets(tuples: p.Tuples, test: p.Expression) -> tuple[p.Tuples, p.Expression]:
    """A loop, and a condition with what was bound behind the loop put in."""
    while isinstance(tuples, p.Let):
        bound, value = p.Var(tuples.variable), tuples.value
        test = bottom_up(test, lambda n: value if n == bound else n)  # noqa: B023
        tuples = tuples.source
    return tuples, test


def _loop(item: p.Variable, items: p.Expression) -> p.ForEach:
    return p.ForEach(p.Unit(), item, items)


def _key(
    test: p.Expression | None, variable: p.Variable, item: p.Expression
) -> p.Expression | None:
    match test:
        case p.ValueCompare("eq", a, b) | p.GeneralCompare("eq", a, b):
            a, b = _atomised(a), _atomised(b)
            if b == p.Var(variable) and _near(a, item):
                return a
            return b if a == p.Var(variable) and _near(b, item) else None
        case _:
            return None


def _atomised(plan: p.Expression) -> p.Expression:
    """data(e)  →  e: a comparison takes values in any case"""
    match plan:
        case p.Call(function, (one,)) if (function.uri, function.local) == (FN, "data"):
            return one
        case _:
            return plan


def _near(plan: p.Expression, item: p.Expression) -> bool:
    """Whether it is a path of few steps from the item down to text without a type."""
    match plan:
        case p.Step(input, axis):
            return axis in _NEAR and (input == item or _near(input, item))
        case _:
            return False


def _among(source: p.Expression) -> Iterator[p.Expression]:
    """The items, and those that they were filtered from."""
    yield source
    if isinstance(source, p.Filter):
        yield from _among(source.input)


def _put(key: p.Expression, item: p.Expression) -> p.Expression:
    """The key of another item: a path has its only input at its end."""
    if isinstance(key, p.Step):
        return replace(key, input=_put(key.input, item))
    return item


def _focused(plan: p.Expression, item: p.Variable) -> p.Expression:
    made: p.Expression = bottom_up(plan, lambda n: p.Focus() if n == p.Var(item) else n)
    return made


def _plain(plan: p.Expression) -> p.Expression:
    """The plan without what optimising noted in it."""
    made: p.Expression = bottom_up(
        plan, lambda n: replace(n, settled=False) if isinstance(n, p.Step) else n
    )
    return made
