"""Answers of windows: those that can no longer change are forgotten."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from xstreamcast.model.change import Change
from xstreamcast.operators.answer import Answer
from xstreamcast.operators.entries import Entries


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
            return self.revise(contents, instant, ranks)
        stays = [group for group in self._ranks if group not in contents]
        placed = {group: self._ranks[group] for group in stays} | {
            group: rank for group, rank in ranks.items() if contents[group]
        }
        order = sorted(placed, key=lambda group: (placed[group], group))
        return self.revise(contents, instant, placed, order)

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
            self.head = f"{group}.{entries.listed[-1].serial}"
        del self._order[:count]

    def _before(self, group: str) -> str | None:
        place = bisect_left(self._order, (self._ranks[group], group))
        return super()._before(group) if place else self.head
