"""What windows keep: labels of items, and the windows in the places that they were given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.operators.relational.windows.items import _NONE, WindowItems

if TYPE_CHECKING:
    from xstreamcast.model.delta import Key
    from xstreamcast.operators.relational.windows.window import WindowOperator
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter


def write_windows(to: TableWriter, at: str, operator: WindowOperator) -> None:
    """The items and windows of each outer row."""
    sequences = list(operator._items.values())
    to.values(
        f"{at}.sequences", outer=list(operator._items), slots=[len(one._name) for one in sequences],
        free=[one._free for one in sequences],
    )  # fmt: skip
    labels = [(n, k, label) for n, one in enumerate(sequences) for k, label in one._label.items()]
    numbers, keys, found = zip(*labels, strict=True) if labels else ((), (), ())
    to.values(f"{at}.labels", sequence=numbers, key=keys, label=found)
    windows = [
        (n, slot, name, int(one._first[slot]), int(one._last[slot]))
        for n, one in enumerate(sequences)
        for name, slot in one._slot.items()
    ]
    numbers, slots, names, first, last = zip(*windows, strict=True) if windows else ((),) * 5
    to.values(f"{at}.windows", sequence=numbers, slot=slots, name=names, first=first, last=last)


def read_windows(source: TableReader, at: str, operator: WindowOperator) -> None:
    """The items and windows again; the rows of the operator are there already."""
    outers, slots, free = source.values(f"{at}.sequences", "outer", "slots", "free")
    sequences = [WindowItems() for _ in outers]
    operator._items = dict(zip(outers, sequences, strict=True))
    for one, count, left in zip(sequences, slots, free, strict=True):
        one._first, one._last = np.full(count, _NONE, np.int64), np.full(count, -_NONE, np.int64)
        one._name, one._free = [None] * count, list(left)
    for n, key, label in zip(
        *source.values(f"{at}.labels", "sequence", "key", "label"), strict=True
    ):
        sequences[n]._label[key] = label
    columns = source.values(f"{at}.windows", "sequence", "slot", "name", "first", "last")
    for n, slot, name, first, last in zip(*columns, strict=True):
        one = sequences[n]
        one._slot[name], one._name[slot] = slot, name
        one._first[slot], one._last[slot] = first, last
    parts: dict[Key, list[tuple[object, Key]]] = {outer: [] for outer in outers}
    for key, row in operator._rows.items():
        parts[key[: operator._node.outer]].append((row.rank, key))
    for outer, members in parts.items():
        operator._items[outer].order.replace((), members)  # type: ignore[arg-type]
