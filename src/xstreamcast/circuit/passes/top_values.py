"""What the first rows of an order give, evaluated as they come: values are kept, and no units.

order by k, then f($e) of the first n rows  →  let $f := f($e), order by k, then $f of the first n

It holds where f gives atomic values or new nodes. `f` is evaluated for rows alone that come among
the first, see `AppendedRows`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts, free_numbers
from xstreamcast.algebra.analysis.item_kinds import TypeContext, static_type, tuples_type
from xstreamcast.algebra.analysis.timing import asks_clock
from xstreamcast.algebra.nodes.static_type import ATOMIC
from xstreamcast.algebra.program import Program
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order, with_sources
from xstreamcast.circuit.passes.top_n import row_types


def with_top_values(circuit: c.Circuit, program: Program) -> c.Circuit:
    """The circuit whose orders with limits keep values, where rows above them give values."""
    numbers = _unused(circuit, program)
    made: dict[int, c.Node] = {}
    for node in in_order(circuit.root):
        one = with_sources(node, made)
        if isinstance(one, c.Rows) and isinstance(one.source, c.Order) and one.source.limit:
            one = _over_values(one, one.source, p.Variable(next(numbers), "made"))
        made[id(node)] = one
    return _answer(replace(circuit, root=made[id(circuit.root)]), numbers)


def makes_values(plan: p.Expression, around: TypeContext) -> bool:
    """Whether an expression gives atomic values and new nodes alone."""
    if static_type(plan, around).only(ATOMIC):
        return True
    match plan:
        case p.MakeElement() | p.MakeDocument() | p.MakeAttribute() | p.MakeText():
            return True
        case p.MakeComment() | p.MakePi():
            return True
        case p.Comma(parts):
            return all(makes_values(part, around) for part in parts)
        case p.If(_, then, otherwise):
            return makes_values(then, around) and makes_values(otherwise, around)
        case p.Return(source, result):
            return makes_values(result, tuples_type(source, around)[1])
        case _:
            return False


def _unused(circuit: c.Circuit, program: Program) -> Iterator[int]:
    nodes = in_order(circuit.root)
    taken = [v.number for node in nodes for v in node.columns]
    plans = [node.tuples for node in nodes if isinstance(node, c.Rows)]
    return free_numbers(program, [program.body, circuit.result, *plans], taken)


def _over_values(node: c.Rows, order: c.Order, made: p.Variable) -> c.Rows:
    """The map over values of the order's rows, if what it loops over is made of them."""
    match node.tuples:
        case p.ForEach(p.Unit(), _, items, None, False) if not isinstance(items, p.Var):
            below = _with_value(order, made, items)
            if below is None or not facts(node.tuples).free <= set(order.columns):
                return node
            over = replace(node.tuples, items=p.Var(made, span=items.span))
            return replace(node, source=below, tuples=over)
        case _:
            return node


def _answer(circuit: c.Circuit, numbers: Iterator[int]) -> c.Circuit:
    """The circuit whose answer is made of the first rows as they come."""
    top, result = circuit.root, circuit.result
    if not isinstance(top, c.Slice) or len(top.columns) != 1 or asks_clock(result):
        return circuit
    (item,), below = top.columns, top.source
    if not facts(result).free <= {item} or isinstance(result, p.Var):
        return circuit
    match below:
        case c.Rows(
            source=c.Order(source=c.Rows() as rows) as order,
            tuples=p.ForEach(p.Unit(), variable, p.Var(bound) as value, None, False),
        ) if variable == item and order.limit and row_types(rows).variables[bound].one:
            made = p.Variable(next(numbers), "made")
            own = p.Return(p.Let(p.Unit(), item, value), result, span=result.span)
            found = _with_value(order, made, own)
        case _:
            return circuit
    if found is None:
        return circuit
    root = replace(top, source=found, columns=(made,), width=found.width)
    return replace(circuit, root=root, result=p.Var(made, span=result.span))


def _with_value(order: c.Order, made: p.Variable, value: p.Expression) -> c.Order | None:
    """The order whose rows have one value besides their keys; None if it may hold other nodes."""
    source = order.source
    assert isinstance(source, c.Rows)
    if not makes_values(value, row_types(source)):
        return None
    columns = dict.fromkeys((made, *(key.column for key in order.keys)))
    rows = replace(source, tuples=p.Let(source.tuples, made, value), columns=tuple(columns))
    return replace(order, source=rows, columns=(made,))
