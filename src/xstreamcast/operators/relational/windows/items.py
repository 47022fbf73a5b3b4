"""The items that windows go over, in order, and the place of each window.

Items have labels: numbers that ascend with their order and stay when others come and go. Windows
are kept by the labels of their first and last items, in arrays that are searched at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.operators.relational.orders.ordered import Ordered
from xstreamcast.operators.relational.orders.positions import reorder

if TYPE_CHECKING:
    from xstreamcast.model.delta import Delta, Key
    from xstreamcast.tape.layout import I64

_GAP: Final = 1 << 32
_BLOCK: Final = 512  # slots that are looked through together
_NONE: Final = np.iinfo(np.int64).max
FIRST: Final = -(1 << 62)
LAST: Final = (1 << 62) - 1  # labels before and behind all items, those that have gone among them


class WindowItems:
    """The items of one sequence and its windows."""

    def __init__(self) -> None:
        self.order = Ordered()
        self._label: dict[Key, int] = {}
        self._first: I64 = np.full(64, _NONE, np.int64)  # by slot: labels of windows
        self._last: I64 = np.full(64, -_NONE, np.int64)
        self._bounds: tuple[I64, I64] | None = None  # by block: the least first, the greatest last
        self._name: list[Key | None] = [None] * 64
        self._slot: dict[Key, int] = {}
        self._free = list(range(64))

    def __len__(self) -> int:
        return len(self.order)

    # -- items ------------------------------------------------------------------------------------

    def update(self, delta: Delta) -> tuple[int, int]:
        """Apply changes of items → the first and last place where something is new or gone."""
        gone = [old.rank for old, _ in delta.values() if old is not None]
        come = [new.rank for _, new in delta.values() if new is not None]
        reorder(self.order, delta)
        last = max(len(self.order) - 1, 0)
        first = 0
        if len(come) < len(self.order):  # or else ranks may be of other types than before
            places = [self.order.position(rank) for rank in (*gone, *come)]
            first, last = min(places), min(max(places), last)
        for key, (_, new) in delta.items():
            if new is None:
                self._label.pop(key, None)
        if come:
            self._relabel(max(first - 1, 0), last)
        return first, last

    def _relabel(self, first: int, last: int) -> None:
        """Labels for items in a part of the sequence, between those around it."""
        keys = self.order.keys(first, last + 1)
        before = self.order.keys(first - 1, first) if first else []
        behind = self.order.keys(last + 1, last + 2)
        low = self._label[before[0]] if before else None
        high = self._label[behind[0]] if behind else None
        if low is None:
            low = (0 if high is None else high) - (len(keys) + 1) * _GAP
        known = [self._label.get(key) for key in keys]
        if all(k is not None for k in known[:1]) and self._ascends(keys, low, high):
            return
        step = _GAP if high is None else (high - low) // (len(keys) + 1)
        if step < 2:
            self._relabel_all()
            return
        self._move({key: low + (at + 1) * step for at, key in enumerate(keys)})

    def _ascends(self, keys: list[Key], low: int, high: int | None) -> bool:
        """Whether all have labels that ascend already: nothing came between them."""
        at = low
        for key in keys:
            label = self._label.get(key)
            if label is None or label <= at:
                return False
            at = label
        return high is None or at < high

    def _relabel_all(self) -> None:
        self._move({key: at * _GAP for at, key in enumerate(self.order.keys())})

    def _move(self, labels: dict[Key, int]) -> None:
        """Other labels for items; windows follow those that they begin or end with."""
        changed = {
            self._label[key]: label
            for key, label in labels.items()
            if key in self._label and self._label[key] != label
        }
        self._label.update(labels)
        if changed:
            self._bounds = None
            for column in (self._first, self._last):
                for at in np.flatnonzero(np.isin(column, list(changed))).tolist():
                    column[at] = changed[int(column[at])]

    def key(self, place: int) -> Key:
        """The item at a place."""
        return self.order.at(place)[1]

    def label(self, place: int) -> int:
        """The label of the item at a place."""
        return self._label[self.key(place)]

    def place(self, label: int) -> int:
        """The place of the item with a label; of the next one if it has gone."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.label(middle) < label:
                low = middle + 1
            else:
                high = middle
        return min(low, len(self) - 1)

    def from_label(self, place: int) -> int:
        """The label from which on windows belong to a part that begins at a place."""
        return self.label(place) if place else FIRST

    def until_label(self, place: int) -> int:
        """The label up to which windows belong to a part that ends at a place."""
        return self.label(place) if place + 1 < len(self) else LAST

    # -- windows ----------------------------------------------------------------------------------

    def touching(self, first: int, last: int) -> list[tuple[Key, int, int]]:
        """The windows that hold an item with a label between these: name, first and last label."""
        return self._listed(self._slots(first, last))

    def beginning(self, first: int, before: int | None) -> list[tuple[Key, int, int]]:
        """The windows whose first item has a label from the first on, before the other one."""
        found = self._slots(first, LAST if before is None else before - 1)
        return self._listed(found[self._first[found] >= first])

    def _slots(self, first: int, last: int) -> I64:
        """The slots of windows that hold something between labels, in blocks that may have some."""
        if self._bounds is None:
            begin = np.arange(0, len(self._first), _BLOCK)
            least = np.minimum.reduceat(self._first, begin)
            self._bounds = least, np.maximum.reduceat(self._last, begin)
        least, most = self._bounds
        blocks = np.flatnonzero((least <= last) & (most >= first))
        at = (blocks[:, None] * _BLOCK + np.arange(_BLOCK)).ravel()
        at = at[: np.searchsorted(at, len(self._first))]
        found: I64 = at[(self._first[at] <= last) & (self._last[at] >= first)]
        return found

    def has(self, name: Key) -> bool:
        """Whether there is a window of this name."""
        return name in self._slot

    def first_label(self, name: Key) -> int:
        """The label of the first item of a window."""
        return int(self._first[self._slot[name]])

    def _listed(self, slots: I64) -> list[tuple[Key, int, int]]:
        found = slots[np.argsort(self._first[slots], kind="stable")].tolist()
        return [
            (name, int(self._first[at]), int(self._last[at]))
            for at in found
            if (name := self._name[at]) is not None
        ]

    def put(self, name: Key, first: Key, last: Key) -> None:
        """A window with these first and last items."""
        if not self._free:
            self._grow()
        slot = self._slot[name] = self._free.pop()
        self._name[slot] = name
        begin, end = self._label[first], self._label[last]
        self._first[slot], self._last[slot] = begin, end
        if self._bounds is not None:  # a window that goes leaves them too wide, until they are new
            least, most = self._bounds
            block = slot // _BLOCK
            least[block], most[block] = min(least[block], begin), max(most[block], end)

    def drop(self, name: Key) -> None:
        """A window that is no more."""
        slot = self._slot.pop(name)
        self._name[slot], self._first[slot], self._last[slot] = None, _NONE, -_NONE
        self._free.append(slot)

    def _grow(self) -> None:
        n, self._bounds = len(self._name), None
        self._first = np.concatenate((self._first, np.full(n, _NONE, np.int64)))
        self._last = np.concatenate((self._last, np.full(n, -_NONE, np.int64)))
        self._name += [None] * n
        self._free = list(range(n, 2 * n))
