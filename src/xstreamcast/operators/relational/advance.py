"""One tick through the operators of some nodes, each after those that it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xstreamcast.algebra import plan as p
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.inputs.grown import keeps_values
from xstreamcast.circuit.node_sources import in_order, sources_of
from xstreamcast.circuit.passes.growing import accumulates, grows
from xstreamcast.model.delta import Row, RowDelta
from xstreamcast.operators.held import held_bytes
from xstreamcast.operators.relational.folds.accumulate import AccumulateOperator
from xstreamcast.operators.relational.folds.count_around import CountAroundOperator
from xstreamcast.operators.relational.folds.nest import NestOperator
from xstreamcast.operators.relational.groups.first_of_group import FirstOfGroup
from xstreamcast.operators.relational.groups.group import GroupOperator
from xstreamcast.operators.relational.groups.growing import GrowingGroup
from xstreamcast.operators.relational.groups.members import MembersOperator
from xstreamcast.operators.relational.joins.band_join import BandJoinOperator
from xstreamcast.operators.relational.joins.interval_join import IntervalJoinOperator
from xstreamcast.operators.relational.joins.join import JoinOperator
from xstreamcast.operators.relational.joins.range_fold import RangeFoldOperator
from xstreamcast.operators.relational.joins.range_fold_by import RangeFoldBy
from xstreamcast.operators.relational.joins.range_fold_within import RangeFoldWithin
from xstreamcast.operators.relational.joins.value_lookup import ValueLookup
from xstreamcast.operators.relational.orders.growing import FirstRows, GrowingNumber, LastRows
from xstreamcast.operators.relational.orders.order import OrderOperator
from xstreamcast.operators.relational.orders.positions import (
    NumberOperator,
    PickOperator,
    SliceOperator,
    UnionOperator,
)
from xstreamcast.operators.relational.orders.top_rows import TopRows
from xstreamcast.operators.relational.passing import Deltas, passed
from xstreamcast.operators.relational.root_row import RootRow
from xstreamcast.operators.relational.rows import RowsOperator
from xstreamcast.operators.relational.spine_rows import SpineRows, WithinOperator
from xstreamcast.operators.relational.unit_rows import UnitRows
from xstreamcast.operators.relational.windows.growing import GrowingWindowOperator
from xstreamcast.operators.relational.windows.window import WindowOperator

if TYPE_CHECKING:
    from xstreamcast.operators.feeds.arrived import Tick
    from xstreamcast.operators.relational.tick import Round

_ONE = RowDelta(None, Row((), ()))


class Operators:
    """An operator for each node of a circuit, or of one of its stages."""

    def __init__(
        self,
        nodes: Sequence[c.Node],
        root: c.Node,
        final: bool = False,
        *,
        inputs: Mapping[int, Sequence[int]] | None = None,
        first: bool = True,
        passing: frozenset[int] = frozenset(),
    ) -> None:
        """`passing`: nodes whose rows live for one tick and are evaluated together, by identity."""
        self._nodes = nodes
        self.passing = passing
        self._numbers = {id(one): at for at, one in enumerate(in_order(root))}
        self.failing = -1  # the number in the circuit of the node that is computed
        self._first = first  # whether what is in one place is in this one
        self._inputs = inputs or {id(n): [id(one) for one in sources_of(n)] for n in nodes}
        self._inlined = frozenset(
            id(one) for node in nodes if _takes_pieces(node) for one in sources_of(node)[1:]
        )  # maps of pieces, which are evaluated where their values are folded
        self._root, self._final = root, final
        self._columns = _as_columns(nodes, root if final else None)
        self.all = [self._made(node) for node in nodes]
        self.fresh = True  # nothing has been read yet

    def advance(self, turn: Round, tick: Tick | None, deltas: Deltas) -> Deltas:
        """The deltas of all nodes, given those of nodes that are elsewhere."""
        fresh, self.fresh = self.fresh, False
        for node, operator in zip(self._nodes, self.all, strict=True):
            turn.operator = self.failing = self._numbers[id(node)]
            if id(node) in self.passing:
                assert tick is not None
                deltas[id(node)] = passed(node, operator, turn, tick, deltas, fresh)
                continue
            match node:
                case c.One():
                    deltas[id(node)] = {(): _ONE} if fresh and self._first else {}
                case c.Root():
                    assert tick is not None
                    deltas[id(node)] = operator.apply(tick)
                case c.Spine():
                    deltas[id(node)] = operator.apply(turn)
                case c.Units():
                    assert tick is not None
                    deltas[id(node)] = operator.apply(turn, tick, fresh)
                case c.Rows() if id(node) in self._inlined:
                    pass
                case c.Nest() if isinstance(operator, AccumulateOperator):
                    units = [deltas[id(sources_of(one)[0])] for one, _ in node.inner]
                    deltas[id(node)] = operator.apply(turn, deltas[id(node.outer)], units)
                case _:
                    given = [deltas[one] for one in self._inputs[id(node)]]
                    deltas[id(node)] = operator.apply(turn, given)
        self.failing = len(self._numbers)
        return deltas

    def _made(self, node: c.Node) -> Any:
        if isinstance(node, c.Join) and id(node) in self.passing and keeps_values(node):
            return ValueLookup(node)
        final = self._final and node is self._root
        return _operator(node, self._root, final, self._columns.get(id(node)))

    def let_go(self, gone: frozenset[int]) -> None:
        """Drop all rows of some nodes at once, without a delta for each."""
        for at, (node, operator) in enumerate(zip(self._nodes, self.all, strict=True)):
            match node:
                case c.Join(left=left, right=right):
                    operator.drop(id(left) in gone, id(right) in gone)
                case c.Rows() if id(node) in gone:
                    operator.drop()
                case _ if id(node) in gone:
                    self.all[at] = self._made(node)
                case _:
                    pass

    def held(self) -> dict[int, int]:
        """About what each operator keeps, by the identity of its node."""
        pairs = zip(self._nodes, self.all, strict=True)
        return {id(node): held_bytes(one) for node, one in pairs if one is not None}

    @property
    def state_bytes(self) -> int:
        """About what operators over documents keep."""
        growing = (one for one in self.all if isinstance(one, GrowingWindowOperator))
        return sum(one.state_bytes for one in growing)


def _as_columns(nodes: Sequence[c.Node], final: c.Node | None) -> dict[int, frozenset[p.Variable]]:
    """The maps all of whose readers take the columns of many rows at once, with the variables that
    these read of some rows only.
    """
    readers = [node for node in nodes if _takes_columns(node, node is final)]
    read: dict[int, frozenset[p.Variable]] = {}
    for node in readers:
        for one in sources_of(node):
            late = _read_late(node)
            read[id(one)] = read.get(id(one), late) & late
    others = (node for node in nodes if all(node is not one for one in readers))
    for number in {id(one) for node in others for one in sources_of(node)}:
        read.pop(number, None)
    return read


def _read_late(node: c.Node) -> frozenset[p.Variable]:
    if not isinstance(node, c.Order):
        return frozenset()
    return frozenset(node.columns) - {key.column for key in node.keys}


def _takes_columns(node: c.Node, final: bool) -> bool:
    if isinstance(node, c.Order):
        return node.limit is not None and grows(node.source)
    if not isinstance(node, c.Group) or node.outer:
        return False
    return accumulates(node) or (final and grows(node.source))


def _takes_pieces(node: c.Node) -> bool:
    inner = [one for one, _ in node.inner] if isinstance(node, c.Nest) else []
    return any(isinstance(s, c.Units) and s.pieces for one in inner for s in sources_of(one))


def _operator(node: c.Node, root: c.Node, final: bool, late: frozenset[p.Variable] | None) -> Any:
    match node:
        case c.One():
            return None
        case c.Root():
            return RootRow(node)
        case c.Spine():
            return SpineRows(node)
        case c.Within():
            return WithinOperator(node)
        case c.CountAround():
            return CountAroundOperator(node)
        case c.Units():
            return UnitRows(node, whole=node is not root)
        case c.Rows():
            return RowsOperator(node, late is not None, late or frozenset())
        case c.Join():
            return JoinOperator(node)
        case c.BandJoin():
            return BandJoinOperator(node)
        case c.IntervalJoin():
            return IntervalJoinOperator(node)
        case c.RangeFold(within=within):
            if node.equal or node.upper is not None:
                return RangeFoldBy(node)
            return RangeFoldWithin(node) if within else RangeFoldOperator(node)
        case c.Nest():
            return AccumulateOperator(node) if _takes_pieces(node) else NestOperator(node)
        case c.Group() if final and grows(node.source):
            return FirstOfGroup(node)
        case c.Group() if accumulates(node):
            return GrowingGroup(node)
        case c.Group():
            return GroupOperator(node)
        case c.Members():
            return MembersOperator(node)
        case c.Order(limit=limit):
            return OrderOperator(node) if limit is None else TopRows(node)
        case c.Slice() if node.outer == 0 and grows(node.source):
            return _slice_of_growing(node)
        case c.Slice():
            return SliceOperator(node)
        case c.Pick():
            return PickOperator(node)
        case c.Number():
            return GrowingNumber(node) if grows(node) else NumberOperator(node)
        case c.Union():
            return UnionOperator(node)
        case c.Window():
            return WindowOperator(node)
        case c.GrowingWindow():
            return GrowingWindowOperator(node)


def _slice_of_growing(node: c.Slice) -> FirstRows | LastRows | SliceOperator:
    if grows(node):
        return FirstRows(node)
    return LastRows(node) if node.last in (None, -1) else SliceOperator(node)
