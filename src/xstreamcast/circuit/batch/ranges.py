"""A circuit evaluated once over ranges of the units of one input: what tasks do, what follows.

circuit  →  parts that each task evaluates over its units, folded there as far as they add up;
            groups brought together by their keys; the rest, over the values of the parts

Inputs that are not cut are constants here: every task reads them whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.cut import Cut, DepthCut, Guard, TagCut
from xstreamcast.algebra.analysis.free import facts, free_numbers
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.walk import bottom_up, descendants
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.locality import ABOVE
from xstreamcast.circuit.analysis.normal import CONTEXT, normal
from xstreamcast.circuit.analysis.over_group import ONE
from xstreamcast.circuit.batch.groups import FOLDS, Groups, groups_of
from xstreamcast.circuit.batch.inputs import free_name, is_read_elsewhere, with_constants
from xstreamcast.circuit.batch.parts import BatchPart, Distributed, OneTask
from xstreamcast.circuit.batch.rows import (
    NotDistributed,
    behind,
    folded,
    grafted,
    is_map,
    is_single,
    joined,
    maps_above,
    row_tuples,
    sort_keys,
)
from xstreamcast.circuit.compile import circuit_of
from xstreamcast.circuit.inputs.documents import circuits_by_depth
from xstreamcast.circuit.node_sources import in_order

if TYPE_CHECKING:
    from xstreamcast.model.structure import TagStructure

_WALKING: Final = (
    p.Step, p.Path, p.SetOperation, p.NodeCompare, p.UserCall, p.DynamicCall, p.TreeRoot,
)  # fmt: skip
_COMPARING: Final = (
    p.SetOperation, p.NodeCompare, p.UserCall, p.DynamicCall, p.TreeRoot, p.Inline,
)  # fmt: skip
_DOWN: Final = frozenset({"child", "descendant", "attribute", "self", "descendant-or-self"})


def batch_plan(
    program: Program, inputs: Mapping[str | None, TagStructure | None]
) -> Distributed | OneTask:
    """How a query is distributed over one of the inputs, which are tried in their order.

    An input is a stream with its structure, or a document.
    """
    reasons = [] if inputs else ["it reads no table and no file"]
    for name, structure in inputs.items():
        try:
            return _Batch(program, name, structure, inputs).plan()
        except NotDistributed as why:
            reasons += [f"{name or 'the document'}: {one}" for one in why.reasons]
    return OneTask(tuple(dict.fromkeys(reasons)))


class _Batch:
    """One input whose units are distributed."""

    def __init__(
        self, program: Program, name: str | None, structure: TagStructure | None,
        inputs: Mapping[str | None, Any],
    ) -> None:  # fmt: skip
        self._name, self._read_as = name, name or CONTEXT
        self._called = free_name(name, inputs)
        self._program, self._constants = with_constants(normal(program), self._read_as)
        self._cut: Cut
        self._levels: tuple[tuple[int, tuple[Guard, ...]], ...] = ()
        self._held: tuple[Guard, ...] = ()
        if structure is None:
            self._circuit = self._of_document()
        else:
            self._cut = TagCut(structure)
            self._circuit = circuit_of(self._program, {name: self._cut}, growing=True, batch=True)
        self._numbers = _unused(self._program, self._circuit)
        nodes = in_order(self._circuit.root)
        self._documents = [node.document for node in nodes if isinstance(node, c.Units)]
        self._parts: list[BatchPart] = []
        self._grouped: Groups | None = None
        self._known: dict[tuple[int, p.Variable], p.Expression] = {}

    def _of_document(self) -> c.Circuit:
        """The circuit over units as deep as it stays the same."""
        documents = frozenset({self._name})
        best, deeper = circuits_by_depth(self._program, {}, documents, growing=True, batch=True)
        held = {g for one in (best, *(circuit for _, circuit in deeper)) for _, g in one.held}
        self._held = tuple(sorted(held, key=str))
        self._levels = tuple(
            (depth - 1, tuple(sorted((g for _, g in one.guards), key=str))) for depth, one in deeper
        )
        self._cut = DepthCut(deeper[-1][0])
        return best

    def plan(self) -> Distributed:
        """The plan; NotDistributed if one task has to see all units."""
        self._check()
        root, result = self._circuit.root, self._circuit.result
        above, node = maps_above(root)
        groups = self._grouped = self._groups(above, node, result)
        rest: p.Expression
        if groups is not None:
            rest = self._part(BatchPart(self._fresh("answer"), groups.group, result))
        elif is_map(root):
            rest = self._part(BatchPart(self._fresh("answer"), row_tuples(root), result))
        elif isinstance(node, c.Order) and is_map(node.source):
            tuples = behind(above, row_tuples(node.source))
            answer = BatchPart(self._fresh("answer"), tuples, result, order=sort_keys(node))
            rest = self._part(answer)
        else:
            rest = self._value(root, result)
            self._check_rest(rest)
            groups = self._grouped
        if groups is not None and len(self._parts) > 1:
            raise NotDistributed("groups are computed together with other values")
        if not self._parts:
            raise NotDistributed("it reads nothing inside units")
        programs = tuple(self._over(one.expression, groups) for one in self._parts)
        whole = frozenset(self._constants.values())
        return Distributed(
            self._name, self._called, tuple(self._parts), programs, rest, whole, self._levels,
            self._held, groups,
        )  # fmt: skip

    def _check(self) -> None:
        circuit = self._circuit
        if circuit.whole:
            raise NotDistributed(
                *(sentence for sentence, _ in circuit.reasons),
                *(() if circuit.reasons else ("all of it is read at once",)),
            )
        if is_read_elsewhere(self._program, self._read_as):
            raise NotDistributed("a function or a variable reads all of it")

    def _check_rest(self, rest: p.Expression) -> None:
        """What follows has no nodes as they are in the input, so that it must not walk."""
        if facts(rest).used & self._constants.keys():
            raise NotDistributed("a later operator reads another input")
        held = [one for one in self._parts if one.fold in ("items", "rows")]
        if not facts(rest).used & {one.variable for one in held}:
            return
        walks = _walks if not all(one.is_bounded for one in held) else _leaves
        if any(map(walks, descendants(rest))):
            raise NotDistributed("a later operator navigates across nodes of several units")

    def _groups(self, above: list[c.Rows], node: c.Node, result: p.Expression) -> Groups | None:
        """Groups of rows, and what is done with each; None if the answer is anything else."""
        order: tuple[p.OrderKey, ...] = ()
        if isinstance(node, c.Order):
            order = sort_keys(node)
            below, node = maps_above(node.source)
            above = [*above, *below]
        if not isinstance(node, c.Group) or not is_map(node.source):
            return None
        tail = behind(above, p.Unit())
        (document,) = self._documents
        groups = groups_of(
            self._program, self._cut, node, document, tail, order, result, self._fresh
        )
        if facts(groups.rest).used & self._constants.keys():
            raise NotDistributed("the result of a group reads another input")
        return groups

    # -- what follows from the parts --------------------------------------------------------------

    def _value(self, node: c.Node, result: p.Expression) -> p.Expression:
        """The items that the rows of a node give."""
        if is_map(node):
            return self._part(BatchPart(self._fresh("items"), row_tuples(node), result))
        above, inner = maps_above(node)
        if isinstance(inner, c.Union):
            result = joined(behind(above, p.Unit()), result)
            return p.Comma(tuple(self._value(one, result) for one in inner.parts))
        chosen = self._chosen(node, result) or self._of_groups(node, result)
        return chosen if chosen is not None else joined(self._tuples(node), result)

    def _tuples(self, node: c.Node) -> p.Tuples:
        """The rows of a node, of which those of units are parts."""
        match node:
            case c.One():
                return p.Unit()
            case c.Rows(source=source, tuples=tuples, scalars=scalars) if not is_map(node):
                made = self._tuples(source)
                for variable, one in scalars:
                    made = p.Let(made, variable, joined(self._tuples(one), p.Var(variable)))
                return grafted(tuples, made)
            case c.Nest(outer=outer, inner=inner) if not is_map(node):
                made = self._tuples(outer)
                for one, fold in inner:
                    made = p.Let(made, fold.into, self._folded(one, fold))
                return made
            case c.Number(source=source, outer=0, variable=variable, size=None):
                return p.CountTuples(self._tuples(source), variable)
            case c.Pick(source=source, place=place, position=position, outer=0):
                return self._picked(source, place, position)
            case c.Window(source=source, outer=0, item=item, window=window, folds=()):
                items = joined(self._tuples(source), p.Var(item))
                return replace(window, source=p.Unit(), items=items)
            case c.GrowingWindow(shape=shape, columns=(column,)) if shape.by is None:
                items = self._part(BatchPart(self._fresh("items"), p.Unit(), shape.window.items))
                made = grafted(replace(shape.window, items=items), shape.before)
                return p.Let(made, column, shape.result)
            case _:
                return self._singles(node)

    def _picked(self, source: c.Node, place: c.Node, position: p.Variable) -> p.Tuples:
        """The rows at positions that are computed."""
        number, wanted = self._fresh("number"), self._fresh("wanted")
        positions = p.Let(p.Unit(), wanted, joined(self._tuples(place), p.Var(position)))
        counted = p.CountTuples(grafted(self._tuples(source), positions), number)
        return p.Where(counted, p.GeneralCompare("eq", p.Var(number), p.Var(wanted)))

    def _singles(self, node: c.Node) -> p.Tuples:
        """Rows of units with one item each, in the one column that is read."""
        found: p.Expression | None = None
        if not node.columns and is_map(node):  # it is enough to know the number of rows
            column = self._fresh("row")
            found = self._part(BatchPart(self._fresh("rows"), row_tuples(node), ONE))
        elif len(node.columns) == 1:
            (column,) = node.columns
            value = p.Var(column)
            match node:
                case c.Group(source=source, outer=0, keys=((key, _),), folds=()) if is_map(source):
                    tuples = row_tuples(source)
                    if is_single(tuples, key):
                        part = BatchPart(self._fresh("values"), tuples, p.Var(key))
                        found = self._part(replace(part, fold="distinct-values"))
                case _ if is_map(node):
                    tuples = row_tuples(node)
                    if is_single(tuples, column):
                        found = self._part(BatchPart(self._fresh("items"), tuples, value))
                case c.Order(source=source) | c.Slice(source=source):
                    units = _lowest(source)
                    if units is not None and is_single(row_tuples(units), column):
                        found = self._chosen(node, value)
        if found is None:
            raise NotDistributed(_why(node))
        return p.ForEach(p.Unit(), column, found)

    def _folded(self, node: c.Node, fold: c.Fold) -> p.Expression:
        """The value of a fold over rows of units: a part, or a call over one."""
        if (id(node), fold.into) not in self._known:
            self._known[id(node), fold.into] = self._fold(node, fold)
        return self._known[id(node), fold.into]

    def _fold(self, node: c.Node, fold: c.Fold) -> p.Expression:
        value, call = p.Var(fold.column), fold.call
        if fold.once is not None:
            raise NotDistributed("rows of a join count once for each row of one side")
        if not is_map(node):
            return folded(fold, self._value(node, value))
        part = BatchPart(self._fresh(fold.name), row_tuples(node), value, around=fold.around)
        simple = fold.name in FOLDS and call is not None and len(call.args) == 1
        if simple and not fold.different:
            return self._part(replace(part, fold=fold.name))  # type: ignore[arg-type]
        if fold.different:
            part = replace(part, fold="distinct-values")
        return folded(fold, self._part(part))

    def _chosen(self, node: c.Node, value: p.Expression) -> p.Expression | None:
        """Rows of units in an order of their own, or some positions of them."""
        first, last, order = 1, None, tuple[p.OrderKey, ...]()
        above, inner = maps_above(node)
        between: list[c.Rows] = []
        if isinstance(inner, c.Slice) and not inner.outer and _is_simple(inner):
            first, last = inner.first, inner.last
            source = inner.source
            between, inner = ([], source) if is_map(source) else maps_above(source)
        if isinstance(inner, c.Order) and not inner.outer:
            order, inner = sort_keys(inner), inner.source
        elif isinstance(inner, c.Units) or inner is node:
            return None
        if not is_map(inner):
            return None
        tuples = behind(between, row_tuples(inner))
        value = joined(behind(above, p.Unit()), value)
        return self._part(
            BatchPart(self._fresh("rows"), tuples, value, "rows", None, order, first, last)
        )

    def _of_groups(self, node: c.Node, value: p.Expression) -> p.Expression | None:
        """What groups give, in their order or at some positions of it; None if they are none."""
        first, last = 1, None
        above, inner = maps_above(node)
        if isinstance(inner, c.Slice) and not inner.outer and _is_simple(inner):
            first, last = inner.first, inner.last
            value = joined(behind(above, p.Unit()), value)
            above, inner = maps_above(inner.source)
        lone = isinstance(inner, c.Group) and not inner.folds and len(inner.keys) == 1
        if lone:  # different values are put together by the driver
            return None
        groups = None if self._grouped is not None else self._groups(above, inner, value)
        if groups is None:
            return None
        self._grouped = groups
        part = BatchPart(self._fresh("groups"), groups.group, value, "rows")
        return self._part(replace(part, first=first, last=last))

    # -- programs ---------------------------------------------------------------------------------

    def _part(self, part: BatchPart) -> p.Var:
        self._parts.append(part)
        return p.Var(part.variable)

    def _fresh(self, name: str) -> p.Variable:
        return p.Variable(next(self._numbers), name)

    def _over(self, body: p.Expression, groups: Groups | None) -> Program:
        """The program of a part over the input by its name; constants are inputs again."""
        body = body if groups is None else groups.partial_values

        def put(node: p.Plan) -> p.Plan:
            if isinstance(node, p.Var) and node.variable in self._documents:
                return p.StreamInput(self._called, span=node.span)
            if isinstance(node, p.Var) and node.variable in self._constants:
                return p.StreamInput(self._constants[node.variable], span=node.span)
            return node

        own = tuple(v for v in self._program.variables if v.variable not in self._constants)
        made: p.Expression = bottom_up(body, put)
        return replace(self._program, body=made, variables=own)


def _unused(program: Program, circuit: c.Circuit) -> Iterator[int]:
    """Numbers of variables that no plan uses."""
    nodes = in_order(circuit.root)
    taken = [v.number for node in nodes for v in node.columns]
    plans = [node.tuples for node in nodes if isinstance(node, c.Rows)]
    return free_numbers(program, [program.body, circuit.result, *plans], taken)


def _lowest(node: c.Node) -> c.Node | None:
    """The map below maps, orders and positions; None if there is none."""
    while not is_map(node):
        if not isinstance(node, c.Order | c.Slice | c.Rows):
            return None
        node = node.source
    return node


def _is_simple(node: c.Slice) -> bool:
    """Whether positions are counted from the first row, or are the last ones."""
    return node.first > 0 or node.last in (None, -1)


def _walks(node: p.Plan) -> bool:
    """Whether it navigates from nodes, or depends on their order or identity."""
    return isinstance(node, _WALKING) or (isinstance(node, p.Call) and node.function.local in ABOVE)


def _leaves(node: p.Plan) -> bool:
    """Whether it navigates from nodes to others than those below them, or compares nodes."""
    match node:
        case p.Step(_, axis):
            return axis not in _DOWN
        case p.Call(function) | p.FunctionRef(function):
            return function.local in ABOVE
        case _:
            return isinstance(node, _COMPARING)


def _why(node: c.Node) -> str:
    """Why one task has to see all rows of a node."""
    match node:
        case c.Group():
            return "something follows from all groups"
        case c.Order():
            return "something follows from all rows in their order"
        case c.Slice() | c.Pick() | c.Number():
            return "it counts positions over all units"
        case c.Window() | c.GrowingWindow():
            return "windows reach over several units"
        case c.Join() | c.IntervalJoin() | c.BandJoin() | c.RangeFold():
            return "it compares units with each other"
        case c.Root() | c.Spine() | c.Within() | c.CountAround():
            return "it loops over elements around the units"
        case _:
            return "a value is computed from all units for each of them"
