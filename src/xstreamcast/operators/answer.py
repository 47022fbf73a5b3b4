"""The answer as it was told: groups of entries in order, and the changes that bring it on."""

from __future__ import annotations

import itertools
from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from xstreamcast.model.change import Change
from xstreamcast.operators.entries import EMPTY, Entries, Entry


class Answer:
    """Groups (a unit, a tuple, a group of tuples) stand in the order of their ranks.

    accumulated changes  →  the entries of all groups, in order
    """

    def __init__(self, snapshot: Any = None) -> None:
        self._groups: dict[str, Entries] = {}
        self._ranks: dict[str, int] = {}
        self._order: list[tuple[int, str]] = []  # groups that have entries
        self._settled = 0  # entries that will not change, and are not kept
        if snapshot is not None:
            self._restore(snapshot)

    def snapshot(self) -> Any:
        """What brings it back."""
        return [
            (group, self._ranks[group], entries.used, [tuple(one) for one in entries.listed])
            for group, entries in self._groups.items()
        ]

    def _restore(self, snapshot: Any) -> None:
        for group, rank, used, listed in snapshot:
            self._groups[group] = Entries(tuple(Entry(*one) for one in listed), used)
            self._ranks[group] = rank
            if listed:
                self._order.append((rank, group))
        self._order.sort()

    def __len__(self) -> int:
        return self._settled + sum(len(entries.listed) for entries in self._groups.values())

    @property
    def state_bytes(self) -> int:
        """About what the entries take."""
        return sum(
            120 + sum(100 + len(entry.item) for entry in entries.listed)
            for entries in self._groups.values()
        )

    def items(self) -> list[str]:
        """The items in order."""
        return [e.item for _, group in self._order for e in self._groups[group].listed]

    def retracted(self, instant: int) -> list[Change]:
        """The changes that take all of it back."""
        return self.revise(dict.fromkeys(self.groups(), ()), instant)

    def settle(self, groups: Iterable[str], first: int) -> None:
        """Groups that stay as they are: of each only the name of its last entry is kept, for what
        comes behind it; and of all whose rank is below `first`, only that of the last group.
        """
        for group in groups:
            known = self._groups.get(group)
            if known is not None and known.listed:
                self._settled += len(known.listed) - 1
                last = Entry(known.listed[-1].serial, "")
                self._groups[group] = Entries((last,), known.used)
        gone = max(0, bisect_left(self._order, (first, "")) - 1)
        for _, group in self._order[:gone]:
            self._settled += 1
            del self._groups[group], self._ranks[group]
        del self._order[:gone]

    def groups(self) -> list[str]:
        """The groups that have entries, in order."""
        return [group for _, group in self._order]

    def revise(
        self,
        contents: Mapping[str, Sequence[str]],
        instant: int,
        ranks: Mapping[str, int] | None = None,
        order: Sequence[str] | None = None,
    ) -> list[Change]:
        """New contents of some groups → the changes.

        `ranks` places groups that are new; `order`, all groups of the answer, places every one
        anew: those that stand in each other's way are taken out and put in again.
        """
        made = {
            group: self._groups.get(group, EMPTY).revised(items)
            for group, items in contents.items()
            if not self._stays(group, items)
        }
        moved = set() if order is None else self._misplaced(order)
        touched = dict.fromkeys([*made, *sorted(moved)])  # an order that is always the same
        before = {group: self._groups.get(group, EMPTY).listed for group in touched}
        out = self._removals(made, moved, before, instant)
        self._settle(made, ranks, order)
        for _, group in sorted((self._ranks[one], one) for one in touched if one in self._groups):
            known = () if group in moved else before[group]
            out += self._insertions(group, {e.serial: e for e in known}, instant)
        return out

    def _stays(self, group: str, items: Sequence[str]) -> bool:
        """Whether a group is as it was."""
        known = self._groups.get(group)
        if known is None or not items:
            return known is None and not items
        listed = known.listed
        return len(listed) == len(items) and all(
            entry.item == item for entry, item in zip(listed, items, strict=True)
        )

    def _removals(
        self,
        made: Mapping[str, Entries],
        moved: set[str],
        before: Mapping[str, tuple[Entry, ...]],
        instant: int,
    ) -> list[Change]:
        out = []
        for group, listed in before.items():
            stays: frozenset[int] = frozenset()
            if group not in moved:
                stays = frozenset(entry.serial for entry in made[group].listed)
            out += [_gone(group, entry, instant) for entry in listed if entry.serial not in stays]
        return out

    def _settle(
        self,
        made: Mapping[str, Entries],
        ranks: Mapping[str, int] | None,
        order: Sequence[str] | None,
    ) -> None:
        """Take in the new entries and places."""
        for group, entries in made.items():
            had = bool(self._groups.get(group, EMPTY).listed)
            if order is None and had and not entries.listed:
                del self._order[bisect_left(self._order, (self._ranks[group], group))]
            if order is None and entries.listed and not had:
                self._ranks[group] = self._ranks[group] if ranks is None else ranks[group]
                insort(self._order, (self._ranks[group], group))
            if entries.listed:
                self._groups[group] = entries
            else:
                self._groups.pop(group, None)
                self._ranks.pop(group, None)
        if order is not None:
            placed = {g: i for i, g in enumerate(order)} if ranks is None else ranks
            self._ranks = {g: placed[g] for g in order if g in self._groups}
            self._order = [(i, group) for group, i in self._ranks.items()]

    def _insertions(self, group: str, known: dict[int, Entry], instant: int) -> list[Change]:
        """What comes, in order; what is revised goes right before it comes again."""
        after = self._before(group)
        out = []
        for entry in self._groups[group].listed:
            key, old = _key(group, entry), known.get(entry.serial)
            if old is not None and old != entry:
                out.append(_gone(group, old, instant))
            if old != entry:
                out.append(Change(instant, 1, key, after, entry.item))
            after = key
        return out

    def _before(self, group: str) -> str | None:
        """The key that the first entry of a group stands behind."""
        place = bisect_left(self._order, (self._ranks[group], group))
        if place == 0:
            return None
        previous = self._order[place - 1][1]
        return _key(previous, self._groups[previous].listed[-1])

    def _misplaced(self, order: Sequence[str]) -> set[str]:
        """The groups to move, so that the others need not: all but a longest ascending run."""
        place = {group: i for i, group in enumerate(order)}
        told = [group for _, group in self._order]
        there = [group for group in told if group in place]
        kept = longest_ascending([place[group] for group in there])
        return {group for i, group in enumerate(there) if i not in kept}


def longest_ascending(values: Sequence[int]) -> frozenset[int]:
    """The places of a longest ascending subsequence of different numbers."""
    if all(a < b for a, b in itertools.pairwise(values)):
        return frozenset(range(len(values)))
    ends: list[int] = []  # the smallest value that ends a run of each length, and its place
    places: list[int] = []
    before: list[int] = []
    for i, value in enumerate(values):
        at = bisect_left(ends, value)
        ends[at : at + 1], places[at : at + 1] = [value], [i]
        before.append(places[at - 1] if at else -1)
    kept, at = set(), places[-1] if places else -1
    while at >= 0:
        kept.add(at)
        at = before[at]
    return frozenset(kept)


def _gone(group: str, entry: Entry, instant: int) -> Change:
    return Change(instant, -1, _key(group, entry), None, entry.item)


def _key(group: str, entry: Entry) -> str:
    return f"{group}.{entry.serial}" if group else str(entry.serial)


class Appended:
    """An answer that only grows: nothing is kept but where it ends."""

    def __init__(self, snapshot: Any = 0) -> None:
        self._count = int(snapshot or 0)

    def snapshot(self) -> Any:
        """What brings it back."""
        return self._count

    def __len__(self) -> int:
        return self._count

    def add(self, items: Iterable[str], instant: int) -> list[Change]:
        """Items that follow → the changes."""
        out = []
        for item in items:
            after = str(self._count - 1) if self._count else None
            out.append(Change(instant, 1, str(self._count), after, item))
            self._count += 1
        return out

    @property
    def state_bytes(self) -> int:
        """A number."""
        return 8
