"""Rows of a circuit as tuples of one plan, evaluated for all units of a range at once.

What is the same over each unit is the same over any number of them: a map over units, and what it
looks up in constants, becomes the clauses of one FLWOR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.walk import descendants
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.circuit.node_sources import in_order
from xstreamcast.functions.signature import FN


class NotDistributed(Exception):
    """Why the units of an input are not evaluated by several tasks."""

    def __init__(self, *reasons: str) -> None:
        super().__init__(*reasons)
        self.reasons = tuple(dict.fromkeys(reasons))


def is_map(node: c.Node) -> bool:
    """Whether the rows of a node over all units are those over each, one after another."""
    return _reads(node, None)


def is_constant(node: c.Node) -> bool:
    """Whether a node reads no units: every task has the same rows."""
    return not any(isinstance(one, c.Units | c.Root | c.Spine) for one in in_order(node)) and (
        _is_known(node)
    )


def _reads(node: c.Node, outer: c.Node | None) -> bool:
    """Whether a node makes its rows of those of the outer node, or of units, and of constants."""
    if node is outer:
        return True
    match node:
        case c.Units():
            return outer is None
        case c.Rows(source=source, scalars=scalars, whole=whole):
            constant = all(is_constant(one) for _, one in scalars)
            return not whole and constant and _reads(source, outer)
        case c.Join(left=left, right=right):
            if is_constant(left) and left.width == 0:  # one row, so that the order is the right's
                return _reads(right, outer)
            return _reads(left, outer) and is_constant(right)
        case c.Nest(outer=own, inner=inner):
            folds = all(_is_simple(fold) and _reads(one, own) for one, fold in inner)
            return folds and _reads(own, outer)
        case _:
            return False


def _is_known(node: c.Node) -> bool:
    match node:
        case c.One():
            return True
        case c.Rows(source=source, scalars=scalars, whole=whole):
            known = all(_is_known(one) for _, one in scalars)
            return not whole and known and _is_known(source)
        case c.Join(left=left, right=right):
            return _is_known(left) and _is_known(right)
        case c.Nest(outer=outer, inner=inner):
            folds = all(
                _is_simple(fold) and (_reads(one, outer) or _is_known(one)) for one, fold in inner
            )
            return folds and _is_known(outer)
        case _:
            return False


def _is_simple(fold: c.Fold) -> bool:
    return fold.around is None and fold.once is None


def row_tuples(node: c.Node, outer: c.Node | None = None) -> p.Tuples:
    """The rows of a map, within those of an outer node; a unit's document represents all units."""
    if node is outer:
        return p.Unit()
    match node:
        case c.One() | c.Units():
            return p.Unit()
        case c.Rows(source=source, tuples=tuples, scalars=scalars):
            return grafted(tuples, grafted(row_tuples(source, outer), _constants(scalars)))
        case c.Join(left=left, right=right) if is_constant(left) and left.width == 0:
            return grafted(row_tuples(right, outer), row_tuples(left))
        case c.Join(left=left, right=right, key=None):
            return grafted(row_tuples(right), row_tuples(left, outer))
        case c.Join(left=left, right=right, key=key):
            assert key is not None
            return p.TupleJoin(row_tuples(left, outer), row_tuples(right), (key,))
        case c.Nest(outer=own, inner=inner):
            made = row_tuples(own, outer)
            for one, fold in inner:
                items = joined(row_tuples(one, own), p.Var(fold.column))
                made = p.Let(made, fold.into, folded(fold, items))
            return made
        case _:
            raise AssertionError(node)


def _constants(scalars: tuple[tuple[p.Variable, c.Node], ...]) -> p.Tuples:
    """Values that all rows read: they are evaluated before there is any row."""
    made: p.Tuples = p.Unit()
    for variable, one in scalars:
        made = p.Let(made, variable, joined(row_tuples(one), p.Var(variable)))
    return made


def folded(fold: c.Fold, items: p.Expression) -> p.Expression:
    """The value of a fold over all items."""
    if fold.call is None:
        return items
    if fold.different:
        items = called("distinct-values", items)
    return replace(fold.call, args=(items, *fold.call.args[1:]))


def is_single(tuples: p.Tuples, variable: p.Variable) -> bool:
    """Whether each row has one item in a column: `for` binds it."""
    return any(isinstance(n, p.ForEach) and n.variable == variable for n in descendants(tuples))


def maps_above(node: c.Node) -> tuple[list[c.Rows], c.Node]:
    """The maps that a relation ends with, the last first, and what they read."""
    found: list[c.Rows] = []
    while isinstance(node, c.Rows) and not (node.scalars or node.whole):
        found.append(node)
        node = node.source
    return found, node


def behind(maps: Sequence[c.Rows], tuples: p.Tuples) -> p.Tuples:
    """The tuples with the clauses of maps, the last of which comes first."""
    for one in reversed(maps):
        tuples = grafted(one.tuples, tuples)
    return tuples


def grafted(tuples: Any, source: p.Tuples) -> p.Tuples:
    """The clauses over other tuples in the place of the row that they begin with."""
    match tuples:
        case p.Unit():
            return source
        case p.TupleJoin(left=left):
            return replace(tuples, left=grafted(left, source))
        case _:
            return replace(tuples, source=grafted(tuples.source, source))  # type: ignore[no-any-return]


def joined(tuples: p.Tuples, value: p.Expression) -> p.Expression:
    """for … return value; without a FLWOR where `let` alone leads to the value."""
    while isinstance(tuples, p.Let):
        made = _put_in(value, tuples.variable, tuples.value)
        if made is None:
            break
        tuples, value = tuples.source, made
    return value if isinstance(tuples, p.Unit) else p.Return(tuples, value, span=value.span)


def _put_in(value: p.Expression, variable: p.Variable, bound: p.Expression) -> p.Expression | None:
    """The value with a binding in the place of its variable, if that is at its beginning."""
    match value:
        case p.Var(name) if name == variable:
            return bound
        case p.Call(function, (p.Var(name),)) if name == variable and function.uri == FN:
            return replace(value, args=(bound,))
        case _:
            return None


def sort_keys(node: c.Order) -> tuple[p.OrderKey, ...]:
    """The keys of an order over the columns that hold their values."""
    return tuple(
        p.OrderKey(p.Var(key.column), key.descending, key.empty_greatest) for key in node.keys
    )
