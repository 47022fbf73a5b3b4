"""What orders and positions keep: rows by key, and those that are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from xstreamcast.operators.relational.orders.order import OrderOperator, _tags
from xstreamcast.operators.relational.orders.ordered import Ordered
from xstreamcast.operators.relational.orders.positions import PickOperator, SliceOperator
from xstreamcast.operators.relational.orders.top_rows import TopRows

if TYPE_CHECKING:
    from xstreamcast.model.delta import Key, Row
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter


def write_relation(to: TableWriter, name: str, rows: Mapping[Key, Row]) -> None:
    """Put rows with their keys into a table."""
    to.values(name, key=list(rows), row=list(rows.values()))


def read_relation(source: TableReader, name: str) -> dict[Key, Row]:
    """The rows of a table by key."""
    keys, rows = source.values(name, "key", "row")
    return dict(zip(keys, rows, strict=True))


def orders(rows: Mapping[Key, Row], width: int, outers: Iterable[Key] = ()) -> dict[Key, Ordered]:
    """The rows of each outer row in order; some outer rows may have none."""
    parts: dict[Key, list[tuple[Any, Key]]] = {outer: [] for outer in outers}
    for key, row in rows.items():
        parts.setdefault(key[:width], []).append((row.rank, key))
    out = {}
    for outer, members in parts.items():
        out[outer] = order = Ordered()
        order.replace((), members)
    return out


def write_order(to: TableWriter, at: str, operator: OrderOperator) -> None:
    """Put the rows of an order, and the types of its keys, into tables."""
    write_relation(to, f"{at}.source", operator._rows)
    write_relation(to, f"{at}.made", operator._made)
    samples = operator._samples
    to.values(f"{at}.samples", tag=list(samples), value=list(samples.values()))
    to.values(f"{at}.targets", target=list(operator._targets))


def read_order(source: TableReader, at: str, operator: OrderOperator) -> None:
    """Give a new order what another one kept."""
    operator._rows = read_relation(source, f"{at}.source")
    operator._made = read_relation(source, f"{at}.made")
    operator._samples = dict(zip(*source.values(f"{at}.samples", "tag", "value"), strict=True))
    (operator._targets,) = source.values(f"{at}.targets", "target")
    operator.restored()
    operator._kinds = [
        Counter(tag for row in operator._rows.values() for tag in _tags(row.cells[column]))
        for column in operator._at
    ]


def write_top(to: TableWriter, at: str, operator: TopRows) -> None:
    """Put the first rows of an order, and all types that its keys had, into tables."""
    write_order(to, at, operator)
    to.values(f"{at}.kinds", tags=[tuple(sorted(one)) for one in operator._kinds])


def read_top(source: TableReader, at: str, operator: TopRows) -> None:
    """Give new first rows what others kept: maybe an order of all rows."""
    read_order(source, at, operator)
    if f"{at}.kinds" in source:
        (found,) = source.values(f"{at}.kinds", "tags")
        operator._kinds = [Counter(tags) for tags in found]
    operator.trim()


def write_slice(to: TableWriter, at: str, operator: SliceOperator) -> None:
    """Put rows, and those at some positions, into tables."""
    write_relation(to, f"{at}.source", operator._rows)
    shown = [
        (outer, key, row) for outer, own in operator._shown.items() for key, row in own.items()
    ]
    to.values(f"{at}.outers", outer=list(operator._shown))
    to.values(
        f"{at}.shown", outer=[one for one, _, _ in shown], key=[key for _, key, _ in shown],
        row=[row for _, _, row in shown],
    )  # fmt: skip


def read_slice(source: TableReader, at: str, operator: SliceOperator) -> None:
    """Give a new slice what another one kept."""
    operator._rows = read_relation(source, f"{at}.source")
    operator._orders = orders(operator._rows, operator._node.outer)
    (outers,) = source.values(f"{at}.outers", "outer")
    operator._shown = {outer: {} for outer in outers}
    for outer, key, row in zip(*source.values(f"{at}.shown", "outer", "key", "row"), strict=True):
        operator._shown[outer][key] = row


def write_pick(to: TableWriter, at: str, operator: PickOperator) -> None:
    """Put rows, positions, and the rows there into tables."""
    write_relation(to, f"{at}.source", operator._rows)
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


def read_pick(source: TableReader, at: str, operator: PickOperator) -> None:
    """Give a new pick what another one kept."""
    operator._rows = read_relation(source, f"{at}.source")
    operator._orders = orders(operator._rows, operator._node.outer)
    for outer, key, row in zip(*source.values(f"{at}.shown", "outer", "key", "row"), strict=True):
        operator._shown.setdefault(outer, {})[key] = row
    (placed,) = source.values(f"{at}.placed", "key")
    operator._places = {key: [] for key in placed}
    for key, n in zip(*source.values(f"{at}.places", "key", "place"), strict=True):
        operator._places[key].append(n)
