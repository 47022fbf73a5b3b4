"""What joins keep: the rows of both sides with the values that they are joined by."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xstreamcast.operators.relational.join import JoinOperator
    from xstreamcast.operators.relational.join_index import JoinSide
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter


def write_join(to: TableWriter, at: str, operator: JoinOperator) -> None:
    """Both sides, and how their values are compared now."""
    _write_side(to, f"{at}.left", operator._left)
    _write_side(to, f"{at}.right", operator._right)
    modes = [operator._mode, operator._left._mode, operator._right._mode]
    to.values(f"{at}.modes", mode=modes)


def _write_side(to: TableWriter, name: str, side: JoinSide) -> None:
    values = [side.values.get(key) for key in side.rows]
    to.values(name, key=list(side.rows), row=list(side.rows.values()), values=values)


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
