"""The answer: rows to items, items to changes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sortedcontainers import SortedList

from xstreamcast.circuit.passes.growing import grows
from xstreamcast.model.change import Change
from xstreamcast.model.delta import Delta, Key, Rank
from xstreamcast.operators.entries import EMPTY, Entries, Entry, longest_ascending
from xstreamcast.operators.relational.render import Rendering

if TYPE_CHECKING:
    from xstreamcast.circuit import nodes as c
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.relational.tick_rows import TickRows


class Emit:
    """accumulated changes  →  the result of each row, in the order of ranks."""

    def __init__(self, circuit: c.Circuit, final: bool = False) -> None:
        self._rendering = Rendering(circuit)
        self._passes = final or grows(circuit.root)  # rows are emitted as they come, for good
        self._root = circuit.root
        self._entries: dict[Key, Entries] = {}
        self._ranks: dict[Key, Rank] = {}
        self._order: SortedList = SortedList()  # (rank, key) of rows that give items
        self._settled = 0  # items that will not change, and are not kept
        self._tail: str | None = None  # of those, the last, if others come behind them

    @property
    def row_keys(self) -> list[Key]:
        """The rows that give items."""
        return list(self._entries)

    def take_over(self, before: Emit) -> None:
        """Continue from what another circuit emitted."""
        self._entries, self._ranks = before._entries, before._ranks
        self._order, self._settled = before._order, before._settled

    @property
    def is_whole(self) -> bool:
        """Whether all items that were emitted are kept."""
        return self._settled == 0 and self._tail is None

    def answer(self) -> list[tuple[str, str]]:
        """The names and the items of the answer, in order, as far as they are kept."""
        entries = ((key, entry) for _, key in self._order for entry in self._entries[key].listed)
        return [(_name(key, entry), entry.item) for key, entry in entries]

    def go_on_from(self, before: Emit, instant: int) -> list[Change]:
        """Give items the names under which another one emitted them → the changes of the others.

        accumulated changes of both  →  these items
        """
        known = before._entries
        same = [
            key for _, key in self._order if _items(self._entries[key]) == _items(known.get(key))
        ]
        kept = set(same)
        if [key for _, key in before._order if key in kept] != same:
            same, kept = [], set()  # they are in another order
        out = before.revise({key: () for key in known if key not in kept}, {}, instant)
        self._entries |= {key: known[key] for key in same}
        fresh = [(key, dict[int, Entry]()) for key in self._entries if key not in kept]
        return out + self._inserted(fresh, instant)

    def apply(self, turn: Round, delta: Delta, instant: int, anew: bool) -> list[Change]:
        """The changes of the answer; `anew`: rows that are not in the delta are gone."""
        if self._passes:
            delta = {key: one for key, one in delta.items() if one.old is None}
        rows = [(key, new) for key, (_, new) in delta.items() if new is not None]
        if self._passes:
            rows.sort(key=lambda one: one[1].rank)
        strings = self._rendering.strings(rows, turn)
        if self._passes:
            return self._appended(strings, instant)
        known = self._entries
        pairs = zip(rows, strings, strict=True)
        shown = [(key, row, items) for (key, row), items in pairs if items or key in known]
        found = {key: items for key, _, items in shown}
        gone = [key for key, (_, new) in delta.items() if new is None and key in known]
        if anew:
            gone += [key for key in known if key not in delta]
        ranks = {key: row.rank for key, row, _ in shown}
        behind = self._behind(ranks, len(gone) == len(known))
        rest = {key: items for key, items in found.items() if key not in behind}
        changes = self.revise({**dict.fromkeys(gone, ()), **rest}, ranks, instant)
        changes += self._followed(behind, ranks, found, instant)
        for low, high in turn.final.get(id(self._root), {}).items():
            self._settle_between((low,), (high,))
        return changes

    def append(self, rows: TickRows, instant: int) -> list[Change]:
        """What rows that live for this tick give: it follows all others, and never changes."""
        items = self._rendering.of_columns(rows)
        if self._passes:
            return self._appended([items], instant)
        after = self._tail if not self._order else self._last_of(self._order[-1][1])
        out = []
        for item in items:
            name = str(self._settled)
            out.append(Change(instant, 1, name, after, item))
            self._settled += 1
            after = name
        if out:
            self._tail = after
        return out

    def _behind(self, ranks: dict[Key, Rank], alone: bool) -> dict[Key, None]:
        """The rows that follow all others, in their order; none if others change their places.

        `alone`: all others go in this tick. Then new ranks may be of types that theirs have no
        order with: `order by` compares texts from now on, say, and compared numbers before.
        """
        if any(self._ranks.get(key, rank) != rank for key, rank in ranks.items()):
            return {}
        fresh = [key for key in ranks if key not in self._entries]
        if self._order and not alone:
            last = self._order[-1][0]
            fresh = [key for key in fresh if ranks[key] > last]
        return dict.fromkeys(sorted(fresh, key=ranks.__getitem__))

    def _followed(
        self, keys: Iterable[Key], ranks: dict[Key, Rank], found: dict[Key, list[str]], instant: int
    ) -> list[Change]:
        """Rows behind all others: nothing has to be looked for."""
        out: list[Change] = []
        after = self._name_at(len(self._order) - 1)
        order = []
        for key in keys:
            items = found[key]
            if not items:
                continue
            prefix = prefix_of(key)
            for serial, item in enumerate(items):
                name = f"{prefix}{serial}"
                out.append(Change(instant, 1, name, after, item))
                after = name
            listed = tuple(itertools.starmap(Entry, enumerate(items)))
            self._entries[key] = Entries(listed, len(listed))
            self._ranks[key] = ranks[key]
            order.append((ranks[key], key))
        self._order.update(order)
        return out

    def _settle_between(self, low: Rank, high: Rank) -> None:
        """Rows of these ranks stay as they are: only the name of the last item is kept."""
        first = self._order.bisect_left((low,))
        last = self._order.bisect_left((high,))
        if last <= first:
            return
        self._forget(first, last - 1)
        self._keep_name(self._order[first][1])

    def _appended(self, found: Sequence[Sequence[str]], instant: int) -> list[Change]:
        """Items that follow all others and never change: nothing is kept but their number."""
        out = []
        for item in (item for items in found for item in items):
            after = str(self._settled - 1) if self._settled else None
            out.append(Change(instant, 1, str(self._settled), after, item))
            self._settled += 1
        return out

    def revise(
        self, contents: dict[Key, Sequence[str]], ranks: dict[Key, Rank], instant: int
    ) -> list[Change]:
        """New items of some rows → the changes."""
        # retractions in the order of the answer, whatever order the rows were found in
        revised = sorted((k for k in contents if k in self._entries), key=self._ranks.__getitem__)
        added = [key for key, items in contents.items() if items and key not in self._entries]
        moved = self._reranked(contents, ranks)
        out: list[Change] = []
        fresh: list[tuple[Key, dict[int, Entry]]] = []
        for key in added:
            self._entries[key] = EMPTY.revised(contents[key])
            fresh.append((key, {}))
        for key in revised:
            known, items = self._entries[key], contents[key]
            if key not in moved and _is_same(known, items):
                continue
            made = known.revised(items)
            stays = set() if key in moved else {e.serial for e in made.listed}
            out += [_gone(key, e, instant) for e in known.listed if e.serial not in stays]
            if made.listed:
                self._entries[key] = made
                fresh.append((key, {} if key in moved else {e.serial: e for e in known.listed}))
            else:
                self._entries.pop(key, None)
        for key, _ in fresh:
            if key not in self._ranks:
                self._ranks[key] = ranks[key]
                self._order.add((ranks[key], key))
        return out + self._inserted(fresh, instant)

    def _reranked(
        self, contents: dict[Key, Sequence[str]], ranks: dict[Key, Rank]
    ) -> frozenset[Key]:
        """Apply new ranks of rows → those that are elsewhere among the others now."""
        before = {
            key: self._ranks[key]
            for key, items in contents.items()
            if key in self._ranks and (not items or self._ranks[key] != ranks[key])
        }
        for key, rank in before.items():
            self._order.remove((rank, key))
            del self._ranks[key]
        stay = [key for key in sorted(before, key=before.__getitem__) if contents[key]]
        gaps: dict[int, list[Key]] = {}
        for key in stay:
            gap = self._order.bisect_left((before[key],))
            if gap == self._order.bisect_left((ranks[key],)):
                gaps.setdefault(gap, []).append(key)
        kept = {key for own in gaps.values() for key in _ascending(own, ranks)}
        for key in stay:
            self._ranks[key] = ranks[key]
            self._order.add((ranks[key], key))
        return frozenset(stay) - kept

    def _inserted(self, fresh: list[tuple[Key, dict[int, Entry]]], instant: int) -> list[Change]:
        out: list[Change] = []
        for key, before in sorted(fresh, key=lambda one: self._ranks[one[0]]):
            after = self._after(self._ranks[key])
            for entry in self._entries[key].listed:
                name, old = _name(key, entry), before.get(entry.serial)
                if old is not None and old != entry:
                    out.append(_gone(key, old, instant))
                if old != entry:
                    out.append(Change(instant, 1, name, after, entry.item))
                after = name
        return out

    def _after(self, rank: Rank) -> str | None:
        """The key of the item before the first one of a row."""
        return self._name_at(self._order.bisect_left((rank,)) - 1)

    def _name_at(self, place: int) -> str | None:
        """The name of the last item of a row; before all rows, of what came before them."""
        return self._tail if place < 0 else self._last_of(self._order[place][1])

    def _last_of(self, key: Key) -> str:
        return _name(key, self._entries[key].listed[-1])

    def leave(self, turn: Round, delta: Delta) -> None:
        """Rows go, and what was emitted for them stays: what comes next follows it."""
        last = self._last_of(self._order[-1][1]) if self._order else self._tail
        count = len(self)
        self.apply(turn, delta, 0, anew=False)
        self._tail = last
        self._settled += count - len(self)

    def let_go(self) -> None:
        """All rows go, and what was emitted for them stays."""
        if self._order:
            self._tail, self._settled = self._last_of(self._order[-1][1]), len(self)
        self._entries, self._ranks, self._order = {}, {}, SortedList()

    def settle(self, keys: Iterable[Key], first: Rank) -> None:
        """Rows that stay as they are: of each only the name of its last item is kept, for what
        comes behind it; and of all that rank below `first`, only that of the last row.
        """
        for key in keys:
            self._keep_name(key)
        self._forget(0, max(0, self._order.bisect_left((first,)) - 1))

    def _keep_name(self, key: Key) -> None:
        known = self._entries.get(key)
        if known is not None:
            self._settled += len(known.listed) - 1
            last = Entry(known.listed[-1].serial, "")
            self._entries[key] = Entries((last,), known.used)

    def _forget(self, first: int, last: int) -> None:
        for _, key in self._order[first:last]:
            self._settled += len(self._entries.pop(key).listed)
            del self._ranks[key]
        del self._order[first:last]

    def retracted(self, instant: int) -> list[Change]:
        """The changes that take all of the answer back."""
        return self.revise(dict.fromkeys(list(self._entries), ()), {}, instant)

    def __len__(self) -> int:
        kept = sum(len(entries.listed) for entries in self._entries.values())
        return self._settled + kept

    @property
    def state_bytes(self) -> int:
        """About what the items take."""
        return sum(
            200 + sum(100 + len(entry.item) for entry in entries.listed)
            for entries in self._entries.values()
        )


def _ascending(keys: list[Key], ranks: dict[Key, Rank]) -> list[Key]:
    """A longest part of the keys whose new ranks ascend as their old ones did."""
    order = {key: at for at, key in enumerate(sorted(keys, key=ranks.__getitem__))}
    kept = longest_ascending([order[key] for key in keys])
    return [key for at, key in enumerate(keys) if at in kept]


def _items(entries: Entries | None) -> list[str] | None:
    """What a row gives."""
    return None if entries is None else [entry.item for entry in entries.listed]


def _is_same(known: Entries, items: Sequence[str]) -> bool:
    return len(known.listed) == len(items) and all(
        entry.item == item for entry, item in zip(known.listed, items, strict=True)
    )


def _gone(key: Key, entry: Entry, instant: int) -> Change:
    return Change(instant, -1, _name(key, entry), None, entry.item)


def _name(key: Key, entry: Entry) -> str:
    """The name of an item in the answer: the parts of its row's key, and its number there."""
    return f"{prefix_of(key)}{entry.serial}"


def prefix_of(key: Key) -> str:
    """The name that the items of a row have in common."""
    parts = ":".join(map(_part, key))
    return f"{parts}." if parts else ""


def _part(value: Any) -> str:
    if type(value) is tuple:
        return f"({','.join(map(_part, value))})"
    return str(value)
