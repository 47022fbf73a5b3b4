"""What operators over documents keep: values of folds, open windows, and the items these need."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.model.delta import Row
from xstreamcast.model.items import Items
from xstreamcast.operators.growing_windows.buffer import Segment
from xstreamcast.operators.growing_windows.by_key import WindowsByKey
from xstreamcast.operators.growing_windows.ends import ends_for
from xstreamcast.operators.growing_windows.folding import Folding
from xstreamcast.operators.growing_windows.windows import Windows
from xstreamcast.operators.relational.folds.accumulate import AccumulateOperator
from xstreamcast.operators.relational.folds.counted_around import CountedAround
from xstreamcast.operators.relational.folds.running import (
    LibraryFold,
    RunningCount,
    RunningExtreme,
    RunningSum,
    running_fold,
)
from xstreamcast.operators.relational.groups.growing import GrowingGroup, RunningGroup
from xstreamcast.operators.relational.orders.growing import FirstRows, GrowingNumber, LastRows
from xstreamcast.operators.relational.windows.growing import GrowingWindowOperator

if TYPE_CHECKING:
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter

GrowingOperator = (
    AccumulateOperator | FirstRows | LastRows | GrowingGroup | GrowingNumber | GrowingWindowOperator
)


def write_growing(to: TableWriter, at: str, operator: GrowingOperator) -> None:
    """Put what an operator keeps into tables whose names begin with `at`."""
    match operator:
        case FirstRows() | GrowingNumber():
            to.values(f"{at}.count", count=[operator._count])
        case LastRows():
            keys, rows = [key for key, _ in operator._rows], [row for _, row in operator._rows]
            to.values(f"{at}.last", key=keys, row=rows)
        case GrowingGroup():
            _write_groups(to, at, operator)
        case AccumulateOperator():
            folds = [_accumulated(one) for one in operator._folds]
            to.values(f"{at}.folds", state=folds)
            to.values(f"{at}.both", row=[operator._outer, operator._made])
        case GrowingWindowOperator():
            _write_windows(to, at, operator)


def read_growing(source: TableReader, at: str, operator: GrowingOperator) -> None:
    """Give a new operator what another one kept."""
    match operator:
        case FirstRows() | GrowingNumber():
            ((operator._count,),) = source.values(f"{at}.count", "count")
        case LastRows():
            pairs = zip(*source.values(f"{at}.last", "key", "row"), strict=True)
            operator._rows = deque(pairs, maxlen=operator._rows.maxlen)
            operator._shown = dict(operator._rows)
        case GrowingGroup():
            _read_groups(source, at, operator)
        case AccumulateOperator():
            (states,) = source.values(f"{at}.folds", "state")
            for fold, state in zip(operator._folds, states, strict=True):
                _go_on(fold, state)
            ((operator._outer, operator._made),) = source.values(f"{at}.both", "row")
        case GrowingWindowOperator():
            _read_windows(source, at, operator)


# -- folds ----------------------------------------------------------------------------------------


def _library(fold: LibraryFold | None) -> tuple[Any, ...] | None:
    return None if fold is None else (fold.count, tuple(fold.folded.pairs()))


def _library_from(name: str, state: tuple[Any, ...] | None) -> LibraryFold | None:
    if state is None:
        return None
    fold = LibraryFold(name)
    fold.count, fold.folded = state[0], _items(state[1])
    return fold


def _items(pairs: Any) -> Items:
    return Items.mixed([tag for tag, _ in pairs], [value for _, value in pairs])


def _running(fold: Any) -> tuple[Any, ...]:
    """The state of a fold of a group."""
    if isinstance(fold, RunningCount):
        return (fold.count,)
    more = (fold.count, _library(fold.other), tuple(fold.waiting))
    if isinstance(fold, RunningSum):
        return (*more, fold.exact, fold.double, tuple(sorted(fold.tags)))
    assert isinstance(fold, RunningExtreme)
    return (*more, fold.best)


def _running_from(fold: Any, state: tuple[Any, ...]) -> None:
    fold.count = state[0]
    if isinstance(fold, RunningCount):
        return
    fold.other, fold.waiting = _library_from(fold._name, state[1]), list(state[2])
    if isinstance(fold, RunningSum):
        fold.exact, fold.double, fold.tags = state[3], state[4], set(state[5])
    else:
        fold.best = state[3]


def _accumulated(fold: Any) -> tuple[Any, ...]:
    """The state of a fold over all units."""
    if isinstance(fold, CountedAround):
        return (fold._total, tuple(fold._found.tolist()), tuple(fold._waiting.tolist()))
    return (fold._count, _library(fold._folded))


def _go_on(fold: Any, state: tuple[Any, ...]) -> None:
    if isinstance(fold, CountedAround):
        fold._total = state[0]
        fold._found, fold._waiting = np.array(state[1], np.bool_), np.array(state[2], np.int64)
    else:
        fold._count, fold._folded = state[0], _library_from(fold._folded._name, state[1])


# -- groups ---------------------------------------------------------------------------------------


def _write_groups(to: TableWriter, at: str, operator: GrowingGroup) -> None:
    groups = operator.groups.values()
    to.values(
        f"{at}.groups", name=list(operator.groups), rank=[one.rank for one in groups],
        cells=[tuple(one.cells[column] for column in operator._kept) for one in groups],
        row=[operator._made[name] for name in operator.groups],
    )  # fmt: skip
    for number in range(len(operator._node.folds)):
        states = [_running(one.folds[number]) for one in groups]
        to.values(f"{at}.fold{number}", state=states)
    to.values(f"{at}.doubles", by=[operator.by_double])


def _read_groups(source: TableReader, at: str, operator: GrowingGroup) -> None:
    names, ranks, cells, rows = source.values(f"{at}.groups", "name", "rank", "cells", "row")
    folds = operator._node.folds
    states = [source.values(f"{at}.fold{number}", "state")[0] for number in range(len(folds))]
    for at_, (name, rank, own) in enumerate(zip(names, ranks, cells, strict=True)):
        made = [running_fold(fold) for fold in folds]
        for fold, column in zip(made, states, strict=True):
            _running_from(fold, column[at_])
        kept = dict(zip(operator._kept, own, strict=True))
        operator.groups[name] = RunningGroup(rank, kept, made)
    operator._made = dict(zip(names, rows, strict=True))
    ((operator.by_double,),) = source.values(f"{at}.doubles", "by")


# -- windows --------------------------------------------------------------------------------------


def _write_windows(to: TableWriter, at: str, operator: GrowingWindowOperator) -> None:
    windows = operator.windows
    names = list(windows.each) if isinstance(windows, WindowsByKey) else [None]
    each = list(windows.each.values()) if isinstance(windows, WindowsByKey) else [windows]
    to.values(f"{at}.each", value=names, state=[_state(one) for one in each])
    opened = [(n, *one) for n, own in enumerate(each) for one in own.opened.open.items()]
    _write_columns(to, f"{at}.opened", ("sequence", "first", "key"), opened)
    segments = [(n, one) for n, own in enumerate(each) for one in own.buffer.segments]
    facts = [(n, one.made_of, len(one.tapes), len(one.places)) for n, one in segments]
    _write_columns(to, f"{at}.segments", ("sequence", "made", "tapes", "items"), facts)
    to.tapes(f"{at}.tapes", [tape for _, one in segments for tape in one.tapes])
    items = [
        (place, *pair)
        for _, one in segments
        for place, pair in zip(one.places.tolist(), one.items.pairs(), strict=True)
    ]
    _write_columns(to, f"{at}.items", ("place", "tag", "value"), items)
    shown = operator._shown
    to.values(f"{at}.shown", name=list(shown), row=list(shown.values()))
    if isinstance(windows, WindowsByKey):
        to.values(
            f"{at}.by", decided=[windows._decided], waiting=[tuple(sorted(windows._waiting))],
            places=[tuple(windows._places[name] for name in windows.each)],
        )  # fmt: skip


def _write_columns(to: TableWriter, name: str, columns: tuple[str, ...], rows: list[Any]) -> None:
    parts = zip(*rows, strict=True) if rows else ((),) * len(columns)
    to.values(name, **dict(zip(columns, parts, strict=True)))


def _state(one: Windows[Any]) -> tuple[Any, ...]:
    """What windows know besides the items and which of them are open."""
    opened, folding = one.opened, one.folding
    keys = opened.keys
    known = None if keys is None else (keys.way, tuple(keys._left), tuple(keys._right))
    folded = None
    if folding is not None:
        values = tuple(tuple(items.pairs()) for items in folding._values)
        folded = (folding.first, folding.since, tuple(folding._counts), values)
    return (
        one.arrived, tuple(sorted(one._provisional)), one._decided, one._again, one.pairs_asked,
        opened.settled, tuple(sorted(opened._at_last)), opened.index is not None, known, folded,
    )  # fmt: skip


def _read_windows(source: TableReader, at: str, operator: GrowingWindowOperator) -> None:
    windows = operator.windows
    values, states = source.values(f"{at}.each", "value", "state")
    if isinstance(windows, WindowsByKey):
        each = [Windows(windows.shape, windows._document, windows._rows) for _ in values]
        windows.each = dict(zip(values, each, strict=True))
        (windows._decided,), (waiting,), (places,) = source.values(
            f"{at}.by", "decided", "waiting", "places"
        )
        windows._waiting = set(waiting)
        windows._places = dict(zip(values, places, strict=True))
    else:
        each = [windows]
    for one, state in zip(each, states, strict=True):
        _restore(one, state)
    for n, first, key in zip(
        *source.values(f"{at}.opened", "sequence", "first", "key"), strict=True
    ):
        each[n].opened._add(first, key)
    _read_segments(source, at, each)
    names, rows = source.values(f"{at}.shown", "name", "row")
    operator._shown = {
        name: _as_strings(row) if operator._node.answer else row
        for name, row in zip(names, rows, strict=True)
    }


def _restore(one: Windows[Any], state: tuple[Any, ...]) -> None:
    one.arrived, provisional, one._decided, one._again, one.pairs_asked = state[:5]
    one._provisional = set(provisional)
    opened, shape = one.opened, one.shape
    opened.settled, at_last, indexed, known, folded = state[5:]
    opened._at_last = frozenset(at_last)
    opened.index = None if shape.key is None or not indexed else ends_for(shape.key.op)
    if opened.keys is not None and known is not None:
        opened.keys.way, left, right = known
        opened.keys._left, opened.keys._right = set(left), set(right)
    if folded is not None:
        first, since, counts, values = folded
        one.folding = folding = Folding(shape, first)
        folding.since, folding._counts = since, list(counts)
        folding._values = [_items(pairs) for pairs in values]


def _read_segments(source: TableReader, at: str, each: list[Windows[Any]]) -> None:
    facts = zip(*source.values(f"{at}.segments", "sequence", "made", "tapes", "items"), strict=True)
    places, tags, values = source.values(f"{at}.items", "place", "tag", "value")
    tapes = iter(source.tapes(f"{at}.tapes"))
    begin = 0
    for n, made, count, size in facts:
        here = slice(begin, begin + size)
        items = Items.mixed(tags[here], values[here])
        own = tuple(next(tapes) for _ in range(count))
        segment = Segment(np.array(places[here], np.int64), items, own, made)
        each[n].buffer.segments.append(segment)
        begin += size


def _as_strings(row: Row) -> Row:
    """What a window gives, as items of the answer."""
    return Row(row.rank, (list(row.cells[0]),))  # type: ignore[arg-type]
