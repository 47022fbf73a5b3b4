"""Other keys of units: a removal may name a unit by any of them.

vehicle V1 (alias I7), removal of I7  →  V1 removed, in whatever order the two arrive

A removal is of the unit that has the name as its key, and of the unit that last used it as an alias
up to then. Where a later use arrives after the removal, the removal is taken back and is one of
that unit. Where nothing comes later than a lateness allows, an alias is kept as long as its unit is
there and has used no other since; all are kept where everything may come late.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import numpy as np

from xstreamcast.edges.mapping.removals import LAST, removals
from xstreamcast.model.fragment import Op
from xstreamcast.model.instant import NOW, START

if TYPE_CHECKING:
    from xstreamcast.model.fragment import FragmentBatch

T = TypeVar("T")

_FEW: Final = 1024  # below which nothing is dropped
UNKNOWN: Final = -1  # in place of a code


class KeyedUnit(NamedTuple):
    """A unit by its key: its tag, when it was last reported, and where it ends."""

    tag: int
    valid: int
    to: int


class RemovalByName(NamedTuple):
    """A unit is removed at an instant; with an end before it, the removal is taken back."""

    code: int
    tag: int
    valid: int
    to: int


@dataclass(slots=True)
class AliasUses:
    """When an alias was used, and by which units, in the order of time."""

    times: array[int] = field(default_factory=lambda: array("q"))
    codes: array[int] = field(default_factory=lambda: array("i"))

    def add(self, valid: int, code: int) -> None:
        """Note a use; of one instant the last to come counts."""
        at = bisect_right(self.times, valid)
        self.times.insert(at, valid)
        self.codes.insert(at, code)

    def user(self, at: int) -> int:
        """The unit that used it last up to an instant."""
        found = bisect_right(self.times, at)
        return self.codes[found - 1] if found else UNKNOWN

    def forget(self, before: int) -> None:
        """Drop the uses that no removal from an instant on is of."""
        at = max(0, bisect_right(self.times, before) - 1)
        del self.times[:at], self.codes[:at]


@dataclass(slots=True)
class Aliases:
    """What the units of one kind are known by besides their keys."""

    uses: dict[int, AliasUses] = field(default_factory=dict)  # by the code of the alias
    units: dict[int, KeyedUnit] = field(default_factory=dict)  # by the codes of their keys
    # by the code of a name: at which instants it was removed, and who used it as an alias then
    named: dict[int, dict[int, int]] = field(default_factory=dict)
    # by the code of a unit: when it was removed, and by which names; by none: that was taken back
    removed: dict[int, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    gone: dict[int, int] = field(default_factory=dict)  # when units were removed last
    _newest: int = START  # the clock of the feed
    _most: int = _FEW  # how many there may be before some are dropped

    def learn(self, made: FragmentBatch, given: list[tuple[int, int]]) -> list[RemovalByName]:
        """Note (row, alias) of a batch → what becomes of the removals that came before."""
        out: list[RemovalByName] = []
        self._newest = max(self._newest, int(made.clock.max(initial=START)))
        here = np.flatnonzero(made.op != Op.REMOVE)
        ends = np.full(len(here), NOW) if made.to is None else made.to[here]
        columns = made.id[here], made.tsid[here], made.valid[here], ends
        for code, tag, valid, to in zip(*(one.tolist() for one in columns), strict=True):
            out += self._reported(code, KeyedUnit(tag, valid, to))
        for row, alias in given:
            code = int(made.id[row])
            if made.op[row] != Op.REMOVE:
                out += self._used(alias, int(made.valid[row]), code)
        return out

    def _reported(self, code: int, unit: KeyedUnit) -> list[RemovalByName]:
        """A unit is there: a removal by its key may have been taken for one by an alias only."""
        known = self.units.get(code)
        if known is None or known.valid <= unit.valid:
            self.units[code] = unit
        if self.gone.get(code, unit.valid) < unit.valid:
            del self.gone[code]
        instants = self.named.get(code, {})
        return [
            RemovalByName(code, unit.tag, at, NOW)
            for at in sorted(instants)
            if at >= unit.valid and self._remove(code, at, code)
        ]

    def _used(self, alias: int, valid: int, code: int) -> list[RemovalByName]:
        """A unit used an alias: later removals that name it may be of this unit."""
        out: list[RemovalByName] = []
        uses = self.uses.setdefault(alias, AliasUses())
        uses.add(valid, code)
        instants = self.named.get(alias, {})
        for at in sorted(one for one in instants if one >= valid):
            before, now = instants[at], uses.user(at)
            if before == now:
                continue
            instants[at] = now
            if before not in (UNKNOWN, alias) and self._take_back(before, at, alias):
                out.append(RemovalByName(before, self.units[before].tag, at, at - 1))
            if self._remove(now, at, alias):
                out.append(RemovalByName(now, self.units[now].tag, at, NOW))
        return out

    def _remove(self, code: int, at: int, name: int) -> bool:
        """Note that a name removes a unit → whether none did so before."""
        known = self.removed.setdefault(code, {})
        names = known.get(at, ())
        if name not in names:
            known[at] = (*names, name)
        self.gone[code] = max(at, self.gone.get(code, at))
        return not names

    def _take_back(self, code: int, at: int, name: int) -> bool:
        """Note that a name does not remove a unit → whether none does."""
        known = self.removed[code]
        known[at] = tuple(one for one in known[at] if one != name)
        if known[at]:
            return False
        self.gone.pop(code, None)
        left = [instant for instant, names in known.items() if names]
        if left and max(left) >= self.units[code].valid:
            self.gone[code] = max(left)
        return True

    def resolved(
        self, made: FragmentBatch, early: list[RemovalByName], lateness: int | None
    ) -> FragmentBatch:
        """The batch with removals of the units that names mean; behind it what is to be done
        about removals that came before."""
        codes, tags = made.id.copy(), made.tsid.copy()
        own = np.zeros(len(made), np.int64) if made.version is None else made.version.copy()
        more: list[RemovalByName] = []
        for row in np.flatnonzero(made.op == Op.REMOVE).tolist():
            name, at = int(codes[row]), int(made.valid[row])
            uses = self.uses.get(name)
            user = UNKNOWN if uses is None else uses.user(at)
            self.named.setdefault(name, {})[at] = user
            meant = [name] if user in (UNKNOWN, name) else [user]
            if name in self.units and user not in (UNKNOWN, name):
                meant.append(name)
            if meant[0] != name or not self.removed.get(name, {}).get(at, (name,)):
                own[row] = LAST  # it counts, whatever was taken back at the instant
            for code in meant:
                self._remove(code, at, name)
            if user != UNKNOWN:
                codes[row], tags[row] = user, self.units[user].tag
                more += [RemovalByName(one, self.units[one].tag, at, NOW) for one in meant[1:]]
        version = None if made.version is None and not own.any() else own
        made = _once(replace(made, id=codes, tsid=tags, version=version))
        early = [one for one in early if one.to == NOW or not self.removed[one.code][one.valid]]
        made = _behind(made, [*early, *more])
        if lateness is not None:
            self._forget(lateness)
        return made

    def _forget(self, lateness: int) -> None:
        """Drop what no message may name that is at most so late; now and then, not each time."""
        if self._size() <= self._most:
            return
        before = self._newest - lateness
        for uses in self.uses.values():
            uses.forget(before)
        last: dict[int, int] = {}
        for uses in self.uses.values():
            code, at = uses.codes[-1], uses.times[-1]
            last[code] = max(at, last.get(code, at))
        left = {
            code
            for code, unit in self.units.items()
            if unit.to < before or unit.valid <= self.gone.get(code, NOW) < before
        }
        self.uses = {
            alias: one
            for alias, one in self.uses.items()
            if one.times[-1] >= before
            or (one.times[-1] == last[one.codes[-1]] and one.codes[-1] not in left)
        }
        used = {code for one in self.uses.values() for code in one.codes}
        self.units = {c: u for c, u in self.units.items() if c not in left or c in used}
        self.gone = {c: at for c, at in self.gone.items() if at >= before or c in self.units}
        self.named = _since(self.named, before)
        self.removed = _since(self.removed, before)
        self._most = max(_FEW, 2 * self._size())

    def _size(self) -> int:
        """About how much is kept."""
        return len(self.uses) + len(self.units) + len(self.named) + len(self.removed)

    def codes(self) -> set[int]:
        """The ids that are kept."""
        used = (one for uses in self.uses.values() for one in uses.codes)
        return {*self.uses, *used, *self.units, *self.named, *self.removed, *self.gone}


def _since(known: dict[int, dict[int, T]], before: int) -> dict[int, dict[int, T]]:
    """What is known of instants that are not before another."""
    timely = (
        (code, {at: one for at, one in some.items() if at >= before})
        for code, some in known.items()
    )
    return {code: some for code, some in timely if some}


def _behind(made: FragmentBatch, given: list[RemovalByName]) -> FragmentBatch:
    """The batch, and removals behind it."""
    if not given:
        return made
    if made.version is None:
        made = replace(made, version=np.zeros(len(made), np.int64))
    code, tag, valid, to = np.array(given, np.int64).T
    return removals(made, tag.astype(np.int32), code.astype(np.int32), valid, to)


def _once(made: FragmentBatch) -> FragmentBatch:
    """The batch with one removal of each unit and instant: its message may name it twice."""
    at = np.flatnonzero(made.op == Op.REMOVE)
    first = np.unique(np.stack((made.id[at], made.valid[at])), axis=1, return_index=True)[1]
    if len(first) == len(at):
        return made
    stays = np.ones(len(made), np.bool_)
    stays[np.delete(at, first)] = False
    return made.some(stays)
