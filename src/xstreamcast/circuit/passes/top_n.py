"""The first n rows of an order: where rows only come, no other row can count any more.

positions a to n of (for … order by k return e)  →  order by k keeps the first n rows

It holds where rows never change or go, where each of them gives an item (those that give none are
left out before they are sorted), and where the order of two rows is the same whatever comes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.item_kinds import TypeContext, static_type, tuples_type
from xstreamcast.algebra.nodes.static_type import NODE, Kinds
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.circuit.batch.rows import behind
from xstreamcast.circuit.node_sources import in_order, sources_of, with_sources
from xstreamcast.circuit.passes.growing import adds
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import BOOLEAN, DECIMAL, DOUBLE, FLOAT, INTEGER, PRIMITIVE
from xstreamcast.model.sequence_type import AtomicItem

_EXACT: Final = frozenset({INTEGER, DECIMAL})
_INEXACT: Final = frozenset({FLOAT, DOUBLE})
_SOMETHING: Final = p.Const((p.Atom(BOOLEAN, True),))


def with_limits(circuit: c.Circuit) -> c.Circuit:
    """The circuit whose orders keep no more rows than the positions above them can show."""
    nodes = in_order(circuit.root)
    readers = Counter(id(one) for node in nodes for one in sources_of(node))
    limits = dict(filter(None, (_limit(node, readers) for node in nodes)))
    made: dict[int, c.Node] = {}
    for node in nodes:
        one = with_sources(node, made)
        if id(node) in limits:
            assert isinstance(one, c.Order)
            one = _limited(one, *limits[id(node)])
        made[id(node)] = one
    return replace(circuit, root=made[id(circuit.root)]) if limits else circuit


def limit_of(node: c.Node) -> int | None:
    """How many rows of an order all rows of a relation come from; None if that is not bounded."""
    while isinstance(node, c.Rows) and _reads_its_row(node):
        node = node.source
    return node.limit if isinstance(node, c.Order) else None


def _limit(node: c.Node, readers: Counter[int]) -> tuple[int, tuple[int, list[c.Rows]]] | None:
    """The order below some first positions: its identity, how many rows, and the maps between."""
    if not isinstance(node, c.Slice) or node.outer or node.first <= 0 or (node.last or 0) <= 0:
        return None
    assert node.last is not None
    maps: list[c.Rows] = []
    below = node.source
    while isinstance(below, c.Rows) and readers[id(below)] == 1 and _reads_its_row(below):
        maps.append(below)
        below = below.source
    if not isinstance(below, c.Order) or below.outer or readers[id(below)] != 1:
        return None
    return (id(below), (node.last, maps)) if _bounded(below, maps) else None


def _reads_its_row(node: c.Rows) -> bool:
    return not (node.scalars or node.whole or node.clock)


def _bounded(order: c.Order, maps: list[c.Rows]) -> bool:
    """Whether rows behind enough others stay behind them for ever."""
    source = order.source
    if not isinstance(source, c.Rows) or not adds(source):
        return False
    types = row_types(source)
    values = _bound(source.tuples)
    return all(_one_order(values.get(key.column), types) for key in order.keys)


def row_types(rows: c.Rows) -> TypeContext:
    """The types of the variables that rows bind."""
    around = {rows.source.document: NODE} if isinstance(rows.source, c.Units) else {}
    return tuples_type(rows.tuples, TypeContext(around))[1]


def _limited(order: c.Order, limit: int, maps: list[c.Rows]) -> c.Order:
    """The order with its limit, over rows that give items."""
    source = order.source
    assert isinstance(source, c.Rows)
    tuples = behind(maps, p.Unit())
    count, _ = tuples_type(tuples, row_types(source))
    if count.low == 0:
        given = called("exists", p.Return(tuples, _SOMETHING))
        source = replace(source, tuples=p.Where(source.tuples, given))
    return replace(order, source=source, limit=limit)


# -- sort keys whose order never changes ----------------------------------------------------------


def _bound(tuples: p.Tuples) -> dict[p.Variable, p.Expression]:
    """The values of variables that `let` binds."""
    found: dict[p.Variable, p.Expression] = {}
    while not isinstance(tuples, p.Unit):
        match tuples:
            case p.Let(variable=variable, value=value):
                found[variable] = value
            case p.ForEach() | p.Where():
                pass
            case _:
                return found
        tuples = tuples.source
    return found


def _one_order(value: p.Expression | None, types: TypeContext) -> bool:
    """Whether two keys compare in one way for ever: integers do not, once doubles come."""
    if value is None:
        return False
    kinds = static_type(value, types).kinds
    if not kinds & (Kinds.FUNCTION | Kinds.NUMERIC):
        return True
    return kinds == Kinds.NUMERIC and _number(value, types) is not None


def _number(value: p.Expression, types: TypeContext) -> frozenset[int] | None:
    """Types that compare with each other without rounding, one of which a number has."""
    match value:
        case p.Call(function, (operand,)) if (function.uri, function.local) == (FN, "data"):
            return _number(operand, types)
        case p.Call(function):
            return _family(function.result.item)
        case p.Cast(_, target, _):
            return _family(target)
        case p.Unary(_, operand):
            return _number(operand, types)
        case p.Arithmetic(_, left, right):
            sides = [_operand(left, types), _operand(right, types)]
            return None if None in sides else _INEXACT if _INEXACT in sides else _EXACT
        case _:
            return None


def _operand(value: p.Expression, types: TypeContext) -> frozenset[int] | None:
    """An operand of arithmetic: what has no type, as in nodes, is a double there."""
    if static_type(value, types).only(Kinds.NODE | Kinds.UNTYPED):
        return _INEXACT
    if isinstance(value, p.Const):
        tags = {PRIMITIVE[atom.tag] for atom in value.atoms}
        return next((one for one in (_EXACT, _INEXACT) if tags <= one), None)
    return _number(value, types)


def _family(item: object) -> frozenset[int] | None:
    if not isinstance(item, AtomicItem):
        return None
    return next((one for one in (_EXACT, _INEXACT) if PRIMITIVE[item.tag] in one), None)
