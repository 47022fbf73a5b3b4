"""What joins keep: the rows of both sides with the values that they are joined by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.model.delta import RowDelta

if TYPE_CHECKING:
    from xstreamcast.model.delta import Cell, Key, Row
    from xstreamcast.operators.relational.joins.appended_side import AppendedSide, CodedColumn
    from xstreamcast.operators.relational.joins.band_join import BandJoinOperator
    from xstreamcast.operators.relational.joins.index import JoinSide
    from xstreamcast.operators.relational.joins.interval_join import IntervalJoinOperator, _Side
    from xstreamcast.operators.relational.joins.join import JoinOperator
    from xstreamcast.operators.relational.joins.range_fold import RangeFoldOperator
    from xstreamcast.operators.relational.joins.range_fold_by import RangeFoldBy
    from xstreamcast.operators.relational.joins.range_fold_within import RangeFoldWithin
    from xstreamcast.operators.relational.joins.range_side import RangeSide
    from xstreamcast.operators.relational.joins.value_lookup import ValueLookup
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter


def write_join(to: TableWriter, at: str, operator: JoinOperator) -> None:
    """Both sides, and how their values are compared now."""
    for name, side in (("left", operator._left), ("right", operator._right)):
        _write_side(to, f"{at}.{name}", side.rows, values=side.values)
    modes = [operator._mode, operator._left._mode, operator._right._mode]
    to.values(f"{at}.modes", mode=modes)


def write_lookup(to: TableWriter, at: str, operator: ValueLookup) -> None:
    """Each different value once, and the number of the value of each row."""
    side = operator.right
    for number, column in enumerate(_coded(side)):
        to.values(f"{at}.different{number}", value=column.different)
        to.arrays(f"{at}.codes{number}", {"code": np.array(column.codes, np.int32)})
    to.values(f"{at}.mode", mode=[side.mode])


def read_lookup(source: TableReader, at: str, operator: ValueLookup) -> None:
    """The rows again; the index from values to rows is built from them."""
    side = operator.right
    if f"{at}.mode" not in source:  # an older snapshot has a row for each
        ((_, _, mode),) = source.values(f"{at}.modes", "mode")
        keys, rows, values = source.values(f"{at}.right", "key", "row", "values")
        delta = {key: RowDelta(None, row) for key, row in zip(keys, rows, strict=True)}
        side.mode = mode
        side.update(delta, dict(zip(keys, values, strict=True)), mode)
        return
    for number, column in enumerate(_coded(side)):
        (different,) = source.values(f"{at}.different{number}", "value")
        column.fill(different, source.arrays(f"{at}.codes{number}")["code"].tolist())
    ((side.mode,),) = source.values(f"{at}.mode", "mode")
    side.restored()


def _coded(side: AppendedSide) -> list[CodedColumn[Any]]:
    return [side.values, *side.columns]


def _write_side(
    to: TableWriter, name: str, rows: Mapping[Key, Row], **columns: Mapping[Key, Any]
) -> None:
    """The rows of one side, each with what it is joined by."""
    kept = {column: [values.get(key) for key in rows] for column, values in columns.items()}
    to.values(name, key=list(rows), row=list(rows.values()), **kept)


def read_join(source: TableReader, at: str, operator: JoinOperator) -> None:
    """Restore both sides; the index from values to rows is made again."""
    ((operator._mode, left, right),) = source.values(f"{at}.modes", "mode")
    _read_side(source, f"{at}.left", operator._left, left)
    _read_side(source, f"{at}.right", operator._right, right)


def _read_side(source: TableReader, name: str, side: JoinSide, mode: str) -> None:
    keys, rows, values = source.values(name, "key", "row", "values")
    side.rows = dict(zip(keys, rows, strict=True))
    side.values = {key: one for key, one in zip(keys, values, strict=True) if one is not None}
    for one in side.values.values():
        side._kinds[one.kinds] = side._kinds.get(one.kinds, 0) + 1
    side.rebuild(mode)  # type: ignore[arg-type]  # one of the words that were written


# -- by order --------------------------------------------------------------------------------------


def write_range_fold(to: TableWriter, at: str, operator: RangeFoldOperator) -> None:
    """Both sides with the values that they compare by, and how these are compared now."""
    for name, side in (("outer", operator._outer), ("inner", operator._inner)):
        _write_side(to, f"{at}.{name}", side.rows, cell=side.cells)
    to.values(f"{at}.mode", mode=[operator._mode])


def read_range_fold(source: TableReader, at: str, operator: RangeFoldOperator) -> None:
    """Restore both sides; the index and the folds over it are made again."""
    _read_range_side(source, f"{at}.outer", operator._outer)
    _read_range_side(source, f"{at}.inner", operator._inner)
    ((operator._mode,),) = source.values(f"{at}.mode", "mode")
    _fill(operator)


def write_range_fold_within(to: TableWriter, at: str, operator: RangeFoldWithin) -> None:
    """The rows of all groups, whose keys begin with the group's; and how each group compares."""
    parts = dict(operator.parts)
    for name in ("outer", "inner"):
        sides: list[RangeSide] = [getattr(part, f"_{name}") for part in parts.values()]
        rows = [(key, row, side.cells[key]) for side in sides for key, row in side.rows.items()]
        keys, made, cells = zip(*rows, strict=True) if rows else ((), (), ())
        to.values(f"{at}.{name}", key=keys, row=made, cell=cells)
    to.values(f"{at}.mode", group=list(parts), mode=[part._mode for part in parts.values()])
    made_rows = [pair for part in parts.values() for pair in part._made.items()]
    to.values(
        f"{at}.made", key=[key for key, _ in made_rows], row=[row for _, row in made_rows]
    )  # fmt: skip


def read_range_fold_within(source: TableReader, at: str, operator: RangeFoldWithin) -> None:
    """Restore the rows of each group; indexes and folds are made again."""
    for group, mode in zip(*source.values(f"{at}.mode", "group", "mode"), strict=True):
        operator.part(group)._mode = mode
    for name in ("outer", "inner"):
        for key, row, cell in zip(
            *source.values(f"{at}.{name}", "key", "row", "cell"), strict=True
        ):
            _put(getattr(operator.part_of(key), f"_{name}"), key, row, cell)
    for key, row in zip(*source.values(f"{at}.made", "key", "row"), strict=True):
        operator.part_of(key)._made[key] = row
    for _, part in operator.parts:
        _fill(part)


def _fill(operator: RangeFoldOperator) -> None:
    operator._fill(operator._mode)
    operator.fold_all()


def write_range_fold_by(to: TableWriter, at: str, operator: RangeFoldBy) -> None:
    """Both sides with all values that they compare by, and what was made of them."""
    for name, sides in zip(("outer", "inner"), operator.sides, strict=True):
        cells = {f"cell{number}": side.cells for number, side in enumerate(sides)}
        _write_side(to, f"{at}.{name}", sides[0].rows, **cells)
    made = operator._made
    to.values(f"{at}.made", key=list(made), row=list(made.values()))


def read_range_fold_by(source: TableReader, at: str, operator: RangeFoldBy) -> None:
    """Both sides again; what is kept by order is made again."""
    for name, sides in zip(("outer", "inner"), operator.sides, strict=True):
        columns = [f"cell{number}" for number in range(len(sides))]
        keys, rows, *cells = source.values(f"{at}.{name}", "key", "row", *columns)
        for side, own in zip(sides, cells, strict=True):
            for key, row, cell in zip(keys, rows, own, strict=True):
                _put(side, key, row, cell)
    operator.restore(dict(zip(*source.values(f"{at}.made", "key", "row"), strict=True)))


def _read_range_side(source: TableReader, name: str, side: RangeSide) -> None:
    for key, row, cell in zip(*source.values(name, "key", "row", "cell"), strict=True):
        _put(side, key, row, cell)


def _put(side: RangeSide, key: Key, row: Row, cell: Cell | None) -> None:
    side.rows[key], side.cells[key] = row, cell
    side._count(cell, 1)


def write_band_join(to: TableWriter, at: str, operator: BandJoinOperator) -> None:
    """Both sides with the values that they compare by."""
    left, right = operator._low, operator._right
    _write_side(to, f"{at}.left", left.rows, low=left.cells, high=operator._high.cells)
    _write_side(to, f"{at}.right", right.rows, value=right.cells)


def read_band_join(source: TableReader, at: str, operator: BandJoinOperator) -> None:
    """Both sides again; the index follows from them."""
    left = source.values(f"{at}.left", "key", "row", "low", "high")
    for key, row, low, high in zip(*left, strict=True):
        _put(operator._low, key, row, low)
        _put(operator._high, key, row, high)
    for key, row, value in zip(*source.values(f"{at}.right", "key", "row", "value"), strict=True):
        _put(operator._right, key, row, value)
    operator.fill()


# -- by intervals ----------------------------------------------------------------------------------


def write_interval_join(to: TableWriter, at: str, operator: IntervalJoinOperator) -> None:
    """Both sides with their intervals, and the clock that they were compared by."""
    for name, side in (("left", operator._left), ("right", operator._right)):
        _write_side(to, f"{at}.{name}", side.rows, spans=side.spans)
    to.values(f"{at}.clock", instant=[operator._clock])


def read_interval_join(source: TableReader, at: str, operator: IntervalJoinOperator) -> None:
    """Restore both sides; the index of intervals is made again."""
    _read_spans(source, f"{at}.left", operator._left)
    _read_spans(source, f"{at}.right", operator._right)
    ((operator._clock,),) = source.values(f"{at}.clock", "instant")


def _read_spans(source: TableReader, name: str, side: _Side) -> None:
    for key, row, spans in zip(*source.values(name, "key", "row", "spans"), strict=True):
        side.rows[key], side.spans[key] = row, list(spans)
        for span in spans:
            side.index.add(span, row.rank, key)
