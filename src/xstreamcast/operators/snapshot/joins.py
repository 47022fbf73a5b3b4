"""What joins keep: the rows of both sides with the values that they are joined by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xstreamcast.model.delta import Key, Row
    from xstreamcast.operators.relational.joins.index import JoinSide
    from xstreamcast.operators.relational.joins.interval_join import IntervalJoinOperator, _Side
    from xstreamcast.operators.relational.joins.join import JoinOperator
    from xstreamcast.operators.relational.joins.range_fold import RangeFoldOperator
    from xstreamcast.operators.relational.joins.range_side import RangeSide
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter


def write_join(to: TableWriter, at: str, operator: JoinOperator) -> None:
    """Both sides, and how their values are compared now."""
    for name, side in (("left", operator._left), ("right", operator._right)):
        _write_side(to, f"{at}.{name}", side.rows, values=side.values)
    modes = [operator._mode, operator._left._mode, operator._right._mode]
    to.values(f"{at}.modes", mode=modes)


def _write_side(
    to: TableWriter, name: str, rows: Mapping[Key, Row], **columns: Mapping[Key, Any]
) -> None:
    """The rows of one side, each with what it is joined by."""
    kept = {column: [values.get(key) for key in rows] for column, values in columns.items()}
    to.values(name, key=list(rows), row=list(rows.values()), **kept)


def read_join(source: TableReader, at: str, operator: JoinOperator) -> None:
    """Both sides again; the index from values to rows is made anew."""
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
    """Both sides again; the index and the folds over it are made anew."""
    _read_range_side(source, f"{at}.outer", operator._outer)
    _read_range_side(source, f"{at}.inner", operator._inner)
    ((operator._mode,),) = source.values(f"{at}.mode", "mode")
    operator._fill(operator._mode)
    if operator._mode == "none":
        operator._known = dict.fromkeys(operator._outer.rows, operator._summary.zero)
    elif operator._mode != "each":
        operator._known = {key: operator._summed(key) for key in operator._outer.rows}


def _read_range_side(source: TableReader, name: str, side: RangeSide) -> None:
    for key, row, cell in zip(*source.values(name, "key", "row", "cell"), strict=True):
        side.rows[key], side.cells[key] = row, cell
        side._count(cell, 1)


# -- by intervals ----------------------------------------------------------------------------------


def write_interval_join(to: TableWriter, at: str, operator: IntervalJoinOperator) -> None:
    """Both sides with their intervals, and the clock that they were compared by."""
    for name, side in (("left", operator._left), ("right", operator._right)):
        _write_side(to, f"{at}.{name}", side.rows, spans=side.spans)
    to.values(f"{at}.clock", instant=[operator._clock])


def read_interval_join(source: TableReader, at: str, operator: IntervalJoinOperator) -> None:
    """Both sides again; the index of intervals is made anew."""
    _read_spans(source, f"{at}.left", operator._left)
    _read_spans(source, f"{at}.right", operator._right)
    ((operator._clock,),) = source.values(f"{at}.clock", "instant")


def _read_spans(source: TableReader, name: str, side: _Side) -> None:
    for key, row, spans in zip(*source.values(name, "key", "row", "spans"), strict=True):
        side.rows[key], side.spans[key] = row, list(spans)
        for span in spans:
            side.index.add(span, row.rank, key)
