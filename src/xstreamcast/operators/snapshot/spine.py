"""Elements of a root, and what is in and around them, in snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from xstreamcast.operators.relational.folds.count_around import CountAroundOperator
from xstreamcast.operators.relational.spine_rows import SpineRows, WithinOperator

if TYPE_CHECKING:
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter

SpineOperator = SpineRows | WithinOperator | CountAroundOperator


def write_spine(to: TableWriter, at: str, operator: SpineOperator) -> None:
    """Put what an operator keeps into tables; the order of elements is derived from the root."""
    match operator:
        case SpineRows():
            said = list(operator._there.values())
            to.values(f"{at}.there", element=list(operator._there), said=said)
        case WithinOperator():
            outer, units = operator._outer, operator._units
            to.values(f"{at}.outer", key=list(outer), row=list(outer.values()))
            around = [operator._element.get(key) for key in units]
            to.values(f"{at}.units", key=list(units), row=list(units.values()), element=around)
        case CountAroundOperator():
            rows = operator._rows
            to.values(f"{at}.source", key=list(rows), row=list(rows.values()))
            made = [] if operator._made is None else [operator._made]
            to.values(f"{at}.made", row=made)
        case _:
            assert_never(operator)


def read_spine(source: TableReader, at: str, operator: SpineOperator) -> None:
    """Give a new operator what another one kept."""
    match operator:
        case SpineRows():
            elements, said = source.values(f"{at}.there", "element", "said")
            operator._there = dict(zip(elements, said, strict=True))
        case WithinOperator():
            operator._outer = dict(zip(*source.values(f"{at}.outer", "key", "row"), strict=True))
            keys, rows, around = source.values(f"{at}.units", "key", "row", "element")
            operator._units = dict(zip(keys, rows, strict=True))
            known = zip(keys, around, strict=True)
            operator._element = {key: one for key, one in known if one is not None}
            operator.set_up()
        case CountAroundOperator():
            operator._rows = dict(zip(*source.values(f"{at}.source", "key", "row"), strict=True))
            (made,) = source.values(f"{at}.made", "row")
            operator._made = made[0] if made else None
        case _:
            assert_never(operator)
