"""Answers of windows: those that can no longer change are forgotten."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from xstreamcast.model.change import Change
from xstreamcast.operators.answer import Answer
from xstreamcast.operators.entries import Entries, Entry


class Told(Answer):
    """An answer of which a front part is known to be final: only where it ends is kept."""

    def __init__(self, snapshot: Any = None) -> None:
        self.head: str | None = None
        self.forgotten = 0
        if snapshot is not None:
            self.head, self.forgotten, snapshot = snapshot
        super().__init__(snapshot)

    def snapshot(self) -> Any:
        """What brings it back."""
        return self.head, self.forgotten, super().snapshot()

    def __len__(self) -> int:
        return self.forgotten + super().__len__()

    def ranked(
        self, contents: Mapping[str, Sequence[str]], ranks: Mapping[str, int], instant: int
    ) -> list[Change]:
        """New contents of some groups, each at its rank, which may be another than before."""
        if all(self._ranks.get(group, ranks[group]) == ranks[group] for group in ranks):
            last = self._order[-1][0] if self._order else -1
            follow = {group for group, rank in ranks.items() if rank > last}
            rest = {group: items for group, items in contents.items() if group not in follow}
            out = self.revise(rest, instant, ranks) if rest else []
            return out + self._followed(contents, {g: ranks[g] for g in follow}, instant)
        stays = [group for group in self._ranks if group not in contents]
        placed = {group: self._ranks[group] for group in stays} | {
            group: rank for group, rank in ranks.items() if contents[group]
        }
        order = sorted(placed, key=lambda group: (placed[group], group))
        return self.revise(contents, instant, placed, order)

    def _followed(
        self, contents: Mapping[str, Sequence[str]], ranks: Mapping[str, int], instant: int
    ) -> list[Change]:
        """Groups behind all others: nothing has to be looked for."""
        out = []
        after = _last_key(*self._last()) if self._order else self.head
        for rank, group in sorted((rank, group) for group, rank in ranks.items()):
            listed = tuple(Entry(serial, item) for serial, item in enumerate(contents[group]))
            if not listed:
                continue
            for serial, item in listed:
                key = f"{group}.{serial}"
                out.append(Change(instant, 1, key, after, item))
                after = key
            self._groups[group] = Entries(listed, len(listed))
            self._ranks[group] = rank
            self._order.append((rank, group))
        return out

    def _last(self) -> tuple[str, Entries]:
        group = self._order[-1][1]
        return group, self._groups[group]

    def _settle(
        self,
        made: Mapping[str, Entries],
        ranks: Mapping[str, int] | None,
        order: Sequence[str] | None,
    ) -> None:
        super()._settle(made, ranks, order)
        if order is not None and ranks is not None:
            self._ranks = {group: ranks[group] for group in self._ranks}
            self._order = sorted((rank, group) for group, rank in self._ranks.items())

    def forget(self, bound: int) -> None:
        """Groups of lower ranks are final: they are counted, and left to the reader."""
        count = bisect_left(self._order, (bound, ""))
        for _, group in self._order[:count]:
            entries = self._groups.pop(group)
            del self._ranks[group]
            self.forgotten += len(entries.listed)
            self.head = _last_key(group, entries)
        del self._order[:count]

    def forget_between(self, low: int, high: int) -> None:
        """Groups of these ranks are final: only the last is kept, for what comes behind it."""
        first = bisect_left(self._order, (low, ""))
        last = max(first, bisect_left(self._order, (high, "")) - 1)
        for _, group in self._order[first:last]:
            self.forgotten += len(self._groups.pop(group).listed)
            del self._ranks[group]
        del self._order[first:last]

    def of(self, group: str) -> list[str]:
        """The items of a group."""
        known = self._groups.get(group)
        return [] if known is None else [entry.item for entry in known.listed]

    def _before(self, group: str) -> str | None:
        place = bisect_left(self._order, (self._ranks[group], group))
        return super()._before(group) if place else self.head


def _last_key(group: str, entries: Entries) -> str:
    return f"{group}.{entries.listed[-1].serial}"
