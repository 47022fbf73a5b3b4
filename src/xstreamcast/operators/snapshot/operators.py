"""What each operator of a circuit keeps, as tables, and the operator that has it again.

Rows are written in the order in which they are kept: what an operator tells must not depend on
whether it was restored. Indexes, orders and folds are made again from the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import heapify
from typing import TYPE_CHECKING, Any, assert_never

from sortedcontainers import SortedList

from xstreamcast.operators.entries import Entries
from xstreamcast.operators.relational.accumulate import AccumulateOperator
from xstreamcast.operators.relational.count_around import CountAroundOperator
from xstreamcast.operators.relational.first_of_group import FirstOfGroup
from xstreamcast.operators.relational.folds import fold_state
from xstreamcast.operators.relational.group import GroupOperator, _Members, _members
from xstreamcast.operators.relational.growing import FirstRows, GrowingNumber, LastRows
from xstreamcast.operators.relational.growing_group import GrowingGroup
from xstreamcast.operators.relational.growing_window import GrowingWindowOperator
from xstreamcast.operators.relational.interval_join import IntervalJoinOperator
from xstreamcast.operators.relational.join import JoinOperator
from xstreamcast.operators.relational.members import MembersOperator
from xstreamcast.operators.relational.nest import NestOperator
from xstreamcast.operators.relational.order import OrderOperator, _tags
from xstreamcast.operators.relational.ordered import Ordered
from xstreamcast.operators.relational.positions import (
    NumberOperator,
    PickOperator,
    SliceOperator,
    UnionOperator,
)
from xstreamcast.operators.relational.range_fold import RangeFoldOperator
from xstreamcast.operators.relational.root_row import RootRow
from xstreamcast.operators.relational.rows import RowsOperator
from xstreamcast.operators.relational.spine_rows import SpineRows, WithinOperator
from xstreamcast.operators.relational.unit_rows import UnitRows
from xstreamcast.operators.relational.window import WindowOperator
from xstreamcast.operators.snapshot.folds import read_folds, write_folds
from xstreamcast.operators.snapshot.growing import read_growing, write_growing
from xstreamcast.operators.snapshot.joins import (
    read_interval_join,
    read_join,
    read_range_fold,
    write_interval_join,
    write_join,
    write_range_fold,
)
from xstreamcast.operators.snapshot.spine import read_spine, write_spine
from xstreamcast.operators.snapshot.windows import read_windows, write_windows

if TYPE_CHECKING:
    from xstreamcast.model.delta import Key, Row
    from xstreamcast.operators.relational.emit import Emit
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter

Operator = (
    RootRow | SpineRows | WithinOperator | CountAroundOperator | UnitRows
    | RowsOperator | JoinOperator | NestOperator | GroupOperator
    | FirstOfGroup | MembersOperator | OrderOperator
    | SliceOperator | PickOperator | NumberOperator | UnionOperator | WindowOperator
    | RangeFoldOperator | IntervalJoinOperator
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
            _write_relation(to, f"{at}.made", operator._made)
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
        case NestOperator():
            _write_nest(to, at, operator)
        case GroupOperator():
            _write_group(to, at, operator)
        case FirstOfGroup():
            to.values(f"{at}.known", group=list(operator._known))
        case MembersOperator():
            names = [operator._name[key] for key in operator._rows]
            rows = list(operator._rows.values())
            to.values(f"{at}.source", key=list(operator._rows), row=rows, group=names)
        case OrderOperator():
            _write_order(to, at, operator)
        case SliceOperator():
            _write_slice(to, at, operator)
        case PickOperator():
            _write_pick(to, at, operator)
        case NumberOperator():
            _write_relation(to, f"{at}.source", operator._rows)
            _write_relation(to, f"{at}.made", operator._made)
        case WindowOperator():
            _write_relation(to, f"{at}.source", operator._rows)
            write_windows(to, at, operator)
            _write_relation(to, f"{at}.made", operator._made)
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
            operator._made = _read_relation(source, f"{at}.made")
            read_range_fold(source, at, operator)
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
        case NestOperator():
            _read_nest(source, at, operator)
        case GroupOperator():
            _read_group(source, at, operator)
        case FirstOfGroup():
            operator._known = set(source.values(f"{at}.known", "group")[0])
        case MembersOperator():
            keys, rows, names = source.values(f"{at}.source", "key", "row", "group")
            operator._rows = dict(zip(keys, rows, strict=True))
            operator._name = dict(zip(keys, names, strict=True))
            operator._inexact = sum(map(operator._names.is_inexact, rows))
            operator._by_double = operator._inexact > 0
        case OrderOperator():
            _read_order(source, at, operator)
        case SliceOperator():
            _read_slice(source, at, operator)
        case PickOperator():
            _read_pick(source, at, operator)
        case NumberOperator():
            operator._rows = _read_relation(source, f"{at}.source")
            operator._made = _read_relation(source, f"{at}.made")
            operator._orders = _orders(operator._rows, operator._node.outer)
        case WindowOperator():
            operator._rows = _read_relation(source, f"{at}.source")
            operator._made = _read_relation(source, f"{at}.made")
            read_windows(source, at, operator)
            operator.set_up()
        case _:
            assert_never(operator)


# -- relations ------------------------------------------------------------------------------------


def _write_relation(to: TableWriter, name: str, rows: Mapping[Key, Row]) -> None:
    to.values(name, key=list(rows), row=list(rows.values()))


def _read_relation(source: TableReader, name: str) -> dict[Key, Row]:
    keys, rows = source.values(name, "key", "row")
    return dict(zip(keys, rows, strict=True))


def _orders(rows: Mapping[Key, Row], width: int, outers: Iterable[Key] = ()) -> dict[Key, Ordered]:
    """The rows of each outer row in order; some outer rows may have none."""
    parts: dict[Key, list[tuple[Any, Key]]] = {outer: [] for outer in outers}
    for key, row in rows.items():
        parts.setdefault(key[:width], []).append((row.rank, key))
    out = {}
    for outer, members in parts.items():
        out[outer] = order = Ordered()
        order.replace((), members)
    return out


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
    _write_relation(to, f"{at}.source", operator._rows)
    made = [(key, row) for key, rows in operator._made.items() for row in rows]
    to.values(f"{at}.made", key=[key for key, _ in made], row=[row for _, row in made])


def _read_rows(source: TableReader, at: str, operator: RowsOperator) -> None:
    variables = [variable for variable, _ in operator._node.scalars]
    for number, cell in zip(*source.values(f"{at}.scalars", "number", "cell"), strict=True):
        operator._scalars[variables[number]] = cell
    operator._rows = _read_relation(source, f"{at}.source")
    for key, row in zip(*source.values(f"{at}.made", "key", "row"), strict=True):
        operator._made.setdefault(key, []).append(row)


# -- nests and groups -----------------------------------------------------------------------------


def _write_nest(to: TableWriter, at: str, operator: NestOperator) -> None:
    _write_relation(to, f"{at}.outer", operator._outer)
    for number, states in enumerate(operator._states):
        write_folds(to, f"{at}.inner{number}", states)
    _write_relation(to, f"{at}.made", operator._made)


def _read_nest(source: TableReader, at: str, operator: NestOperator) -> None:
    operator._outer = _read_relation(source, f"{at}.outer")
    for number, (_, fold) in enumerate(operator._node.inner):
        operator._states[number] = read_folds(source, f"{at}.inner{number}", fold)
    operator._made = _read_relation(source, f"{at}.made")


def _write_group(to: TableWriter, at: str, operator: GroupOperator) -> None:
    rows = operator._rows
    names = [operator._name[key] for key in rows]
    to.values(f"{at}.source", key=list(rows), row=list(rows.values()), group=names)
    _write_relation(to, f"{at}.made", operator._made)


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
    operator._made = _read_relation(source, f"{at}.made")


# -- orders and positions -------------------------------------------------------------------------


def _write_order(to: TableWriter, at: str, operator: OrderOperator) -> None:
    _write_relation(to, f"{at}.source", operator._rows)
    _write_relation(to, f"{at}.made", operator._made)
    samples = operator._samples
    to.values(f"{at}.samples", tag=list(samples), value=list(samples.values()))
    to.values(f"{at}.targets", target=list(operator._targets))


def _read_order(source: TableReader, at: str, operator: OrderOperator) -> None:
    operator._rows = _read_relation(source, f"{at}.source")
    operator._made = _read_relation(source, f"{at}.made")
    operator._samples = dict(zip(*source.values(f"{at}.samples", "tag", "value"), strict=True))
    (operator._targets,) = source.values(f"{at}.targets", "target")
    operator.restored()
    operator._kinds = [
        Counter(tag for row in operator._rows.values() for tag in _tags(row.cells[column]))
        for column in operator._at
    ]


def _write_slice(to: TableWriter, at: str, operator: SliceOperator) -> None:
    _write_relation(to, f"{at}.source", operator._rows)
    shown = [
        (outer, key, row) for outer, own in operator._shown.items() for key, row in own.items()
    ]
    to.values(f"{at}.outers", outer=list(operator._shown))
    to.values(
        f"{at}.shown", outer=[one for one, _, _ in shown], key=[key for _, key, _ in shown],
        row=[row for _, _, row in shown],
    )  # fmt: skip


def _read_slice(source: TableReader, at: str, operator: SliceOperator) -> None:
    operator._rows = _read_relation(source, f"{at}.source")
    operator._orders = _orders(operator._rows, operator._node.outer)
    (outers,) = source.values(f"{at}.outers", "outer")
    operator._shown = {outer: {} for outer in outers}
    for outer, key, row in zip(*source.values(f"{at}.shown", "outer", "key", "row"), strict=True):
        operator._shown[outer][key] = row


def _write_pick(to: TableWriter, at: str, operator: PickOperator) -> None:
    _write_relation(to, f"{at}.source", operator._rows)
    shown = [
        (outer, key, row) for outer, own in operator._shown.items() for key, row in own.items()
    ]
    to.values(
        f"{at}.shown", outer=[one for one, _, _ in shown], key=[key for _, key, _ in shown],
        row=[row for _, _, row in shown],
    )  # fmt: skip
    numbers = [(key, n) for key, own in operator._places.items() for n in own]
    to.values(f"{at}.placed", key=list(operator._places))
    to.values(f"{at}.places", key=[key for key, _ in numbers], place=[n for _, n in numbers])


def _read_pick(source: TableReader, at: str, operator: PickOperator) -> None:
    operator._rows = _read_relation(source, f"{at}.source")
    operator._orders = _orders(operator._rows, operator._node.outer)
    for outer, key, row in zip(*source.values(f"{at}.shown", "outer", "key", "row"), strict=True):
        operator._shown.setdefault(outer, {})[key] = row
    (placed,) = source.values(f"{at}.placed", "key")
    operator._places = {key: [] for key in placed}
    for key, n in zip(*source.values(f"{at}.places", "key", "place"), strict=True):
        operator._places[key].append(n)


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
