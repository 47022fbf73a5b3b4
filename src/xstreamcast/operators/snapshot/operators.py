"""What each operator of a circuit keeps, as tables, and the operator that has it again.

Rows are written in the order in which they are kept: what an operator emits must not depend on
whether it was restored. Indexes, orders and folds are made again from the rows.
"""

from __future__ import annotations

from heapq import heapify
from typing import TYPE_CHECKING, assert_never

from sortedcontainers import SortedList

from xstreamcast.operators.entries import Entries
from xstreamcast.operators.relational.folds.accumulate import AccumulateOperator
from xstreamcast.operators.relational.folds.count_around import CountAroundOperator
from xstreamcast.operators.relational.folds.folds import fold_state
from xstreamcast.operators.relational.folds.nest import NestOperator
from xstreamcast.operators.relational.groups.first_of_group import FirstOfGroup
from xstreamcast.operators.relational.groups.group import GroupOperator, _Members, _members
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
from xstreamcast.operators.relational.root_row import RootRow
from xstreamcast.operators.relational.rows import RowsOperator
from xstreamcast.operators.relational.spine_rows import SpineRows, WithinOperator
from xstreamcast.operators.relational.unit_rows import UnitRows
from xstreamcast.operators.relational.windows.growing import GrowingWindowOperator
from xstreamcast.operators.relational.windows.window import WindowOperator
from xstreamcast.operators.snapshot.folds import read_folds, write_folds
from xstreamcast.operators.snapshot.groups import read_known, write_known
from xstreamcast.operators.snapshot.growing import read_growing, write_growing
from xstreamcast.operators.snapshot.joins import (
    read_band_join,
    read_interval_join,
    read_join,
    read_lookup,
    read_range_fold,
    read_range_fold_by,
    read_range_fold_within,
    write_band_join,
    write_interval_join,
    write_join,
    write_lookup,
    write_range_fold,
    write_range_fold_by,
    write_range_fold_within,
)
from xstreamcast.operators.snapshot.orders import (
    orders,
    read_order,
    read_pick,
    read_relation,
    read_slice,
    read_top,
    write_order,
    write_pick,
    write_relation,
    write_slice,
    write_top,
)
from xstreamcast.operators.snapshot.spine import read_spine, write_spine
from xstreamcast.operators.snapshot.windows import read_windows, write_windows

if TYPE_CHECKING:
    from xstreamcast.model.delta import Key, Row
    from xstreamcast.operators.relational.emit import Emit
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter

Operator = (
    RootRow | SpineRows | WithinOperator | CountAroundOperator | UnitRows
    | RowsOperator | JoinOperator | ValueLookup | NestOperator | GroupOperator
    | FirstOfGroup | MembersOperator | OrderOperator | TopRows
    | SliceOperator | PickOperator | NumberOperator | UnionOperator | WindowOperator
    | RangeFoldOperator | RangeFoldBy | RangeFoldWithin | IntervalJoinOperator | BandJoinOperator
    | AccumulateOperator | FirstRows | LastRows | GrowingGroup | GrowingNumber
    | GrowingWindowOperator | None
)  # fmt: skip


def write_operator(to: TableWriter, at: str, operator: Operator) -> None:
    """Put what an operator keeps into tables whose names begin with `at`."""
    match operator:
        case None | UnionOperator():
            pass
        case (
            AccumulateOperator()
            | FirstRows()
            | LastRows()
            | GrowingGroup()
            | GrowingNumber()
            | GrowingWindowOperator()
        ):
            write_growing(to, at, operator)
        case RangeFoldOperator():
            write_range_fold(to, at, operator)
            write_relation(to, f"{at}.made", operator._made)
        case RangeFoldBy():
            write_range_fold_by(to, at, operator)
        case RangeFoldWithin():
            write_range_fold_within(to, at, operator)
        case BandJoinOperator():
            write_band_join(to, at, operator)
        case IntervalJoinOperator():
            write_interval_join(to, at, operator)
        case RootRow():
            to.values(f"{at}.there", there=[operator._there])
        case SpineRows() | WithinOperator() | CountAroundOperator():
            write_spine(to, at, operator)
        case UnitRows():
            _write_units(to, at, operator)
        case RowsOperator():
            _write_rows(to, at, operator)
        case JoinOperator():
            write_join(to, at, operator)
        case ValueLookup():
            write_lookup(to, at, operator)
        case NestOperator():
            _write_nest(to, at, operator)
        case GroupOperator():
            _write_group(to, at, operator)
        case FirstOfGroup():
            write_known(to, f"{at}.known", operator.known)
        case MembersOperator():
            names = [operator._name[key] for key in operator._rows]
            rows = list(operator._rows.values())
            to.values(f"{at}.source", key=list(operator._rows), row=rows, group=names)
        case TopRows():
            write_top(to, at, operator)
        case OrderOperator():
            write_order(to, at, operator)
        case SliceOperator():
            write_slice(to, at, operator)
        case PickOperator():
            write_pick(to, at, operator)
        case NumberOperator():
            write_relation(to, f"{at}.source", operator._rows)
            write_relation(to, f"{at}.made", operator._made)
        case WindowOperator():
            write_relation(to, f"{at}.source", operator._rows)
            write_windows(to, at, operator)
            write_relation(to, f"{at}.made", operator._made)
        case _:
            assert_never(operator)


def read_operator(source: TableReader, at: str, operator: Operator) -> None:
    """Give a new operator what another one kept."""
    match operator:
        case None | UnionOperator():
            pass
        case (
            AccumulateOperator()
            | FirstRows()
            | LastRows()
            | GrowingGroup()
            | GrowingNumber()
            | GrowingWindowOperator()
        ):
            read_growing(source, at, operator)
        case RangeFoldOperator():
            operator._made = read_relation(source, f"{at}.made")
            read_range_fold(source, at, operator)
        case RangeFoldBy():
            read_range_fold_by(source, at, operator)
        case RangeFoldWithin():
            read_range_fold_within(source, at, operator)
        case BandJoinOperator():
            read_band_join(source, at, operator)
        case IntervalJoinOperator():
            read_interval_join(source, at, operator)
        case RootRow():
            ((operator._there,),) = source.values(f"{at}.there", "there")
        case SpineRows() | WithinOperator() | CountAroundOperator():
            read_spine(source, at, operator)
        case UnitRows():
            _read_units(source, at, operator)
        case RowsOperator():
            _read_rows(source, at, operator)
        case JoinOperator():
            read_join(source, at, operator)
        case ValueLookup():
            read_lookup(source, at, operator)
        case NestOperator():
            _read_nest(source, at, operator)
        case GroupOperator():
            _read_group(source, at, operator)
        case FirstOfGroup():
            read_known(source, f"{at}.known", operator.known)
        case MembersOperator():
            keys, rows, names = source.values(f"{at}.source", "key", "row", "group")
            operator._rows = dict(zip(keys, rows, strict=True))
            operator._name = dict(zip(keys, names, strict=True))
            operator._inexact = sum(map(operator._names.is_inexact, rows))
            operator._by_double = operator._inexact > 0
            operator.rank_groups()
        case TopRows():
            read_top(source, at, operator)
        case OrderOperator():
            read_order(source, at, operator)
        case SliceOperator():
            read_slice(source, at, operator)
        case PickOperator():
            read_pick(source, at, operator)
        case NumberOperator():
            operator._rows = read_relation(source, f"{at}.source")
            operator._made = read_relation(source, f"{at}.made")
            operator._orders = orders(operator._rows, operator._node.outer)
        case WindowOperator():
            operator._rows = read_relation(source, f"{at}.source")
            operator._made = read_relation(source, f"{at}.made")
            read_windows(source, at, operator)
            operator.set_up()
        case _:
            assert_never(operator)


# -- units ----------------------------------------------------------------------------------------


def _write_units(to: TableWriter, at: str, operator: UnitRows) -> None:
    to.values(f"{at}.units", unit=list(operator._there), place=list(operator._there.values()))
    if operator._timers is not None:
        due = operator._timers._next
        to.values(f"{at}.due", unit=list(due), instant=list(due.values()))


def _read_units(source: TableReader, at: str, operator: UnitRows) -> None:
    operator._there = dict(zip(*source.values(f"{at}.units", "unit", "place"), strict=True))
    if operator._timers is not None:
        due = dict(zip(*source.values(f"{at}.due", "unit", "instant"), strict=True))
        operator._timers._next = due
        operator._timers._heap = [(instant, unit) for unit, instant in due.items()]
        heapify(operator._timers._heap)


# -- let, where, for ------------------------------------------------------------------------------


def _write_rows(to: TableWriter, at: str, operator: RowsOperator) -> None:
    variables = [variable for variable, _ in operator._node.scalars]
    known = [at for at, one in enumerate(variables) if one in operator._scalars]
    to.values(
        f"{at}.scalars", number=known, cell=[operator._scalars[variables[one]] for one in known]
    )
    write_relation(to, f"{at}.source", operator._rows)
    made = [(key, row) for key, rows in operator._made.items() for row in rows]
    to.values(f"{at}.made", key=[key for key, _ in made], row=[row for _, row in made])


def _read_rows(source: TableReader, at: str, operator: RowsOperator) -> None:
    variables = [variable for variable, _ in operator._node.scalars]
    for number, cell in zip(*source.values(f"{at}.scalars", "number", "cell"), strict=True):
        operator._scalars[variables[number]] = cell
    operator._rows = read_relation(source, f"{at}.source")
    for key, row in zip(*source.values(f"{at}.made", "key", "row"), strict=True):
        operator._made.setdefault(key, []).append(row)


# -- nests and groups -----------------------------------------------------------------------------


def _write_nest(to: TableWriter, at: str, operator: NestOperator) -> None:
    write_relation(to, f"{at}.outer", operator._outer)
    for number, states in enumerate(operator._states):
        write_folds(to, f"{at}.inner{number}", states)
    write_relation(to, f"{at}.made", operator._made)


def _read_nest(source: TableReader, at: str, operator: NestOperator) -> None:
    operator._outer = read_relation(source, f"{at}.outer")
    for number, (_, fold) in enumerate(operator._node.inner):
        operator._states[number] = read_folds(source, f"{at}.inner{number}", fold)
    operator._made = read_relation(source, f"{at}.made")


def _write_group(to: TableWriter, at: str, operator: GroupOperator) -> None:
    rows = operator._rows
    names = [operator._name[key] for key in rows]
    to.values(f"{at}.source", key=list(rows), row=list(rows.values()), group=names)
    write_relation(to, f"{at}.made", operator._made)


def _read_group(source: TableReader, at: str, operator: GroupOperator) -> None:
    keys, rows, names = source.values(f"{at}.source", "key", "row", "group")
    operator._rows = dict(zip(keys, rows, strict=True))
    operator._name = dict(zip(keys, names, strict=True))
    operator._inexact = sum(map(operator._names.is_inexact, rows))
    operator._by_double = operator._inexact > 0
    members: dict[Key, list[tuple[Key, Row]]] = {}
    for key, row, name in zip(keys, rows, names, strict=True):
        members.setdefault(name, []).append((key, row))
    for name, own in members.items():
        group = operator._groups[name] = _Members([fold_state(f) for f in operator._node.folds])
        group.order.replace((), ((row.rank, key) for key, row in own))
        for column, state in zip(operator._folded, group.folds, strict=True):
            state.update([], _members(own, column))
    operator._made = read_relation(source, f"{at}.made")


# -- the answer -----------------------------------------------------------------------------------


def write_emit(to: TableWriter, emit: Emit) -> None:
    """The emitted items, with their names in the answer."""
    kept = emit._entries
    to.values("settled", items=[emit._settled])
    to.values(
        "emit", key=list(kept), rank=[emit._ranks[key] for key in kept],
        used=[one.used for one in kept.values()], items=[one.listed for one in kept.values()],
    )  # fmt: skip
    to.values("emit.settled", count=[emit._settled])
    to.facts["emit"] = {"tail": emit._tail}


def read_emit(source: TableReader, emit: Emit) -> None:
    """Continue with the emitted items."""
    ((emit._settled,),) = source.values("settled", "items")
    keys, ranks, used, items = source.values("emit", "key", "rank", "used", "items")
    emit._entries = dict(zip(keys, map(Entries, items, used), strict=True))
    emit._ranks = dict(zip(keys, ranks, strict=True))
    emit._order = SortedList(zip(ranks, keys, strict=True))
    ((emit._settled,),) = source.values("emit.settled", "count")
    emit._tail = source.facts.get("emit", {}).get("tail")  # older snapshots know none
