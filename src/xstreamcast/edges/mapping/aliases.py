"""Other keys of units: a removal may name a unit by any of them.

vehicle V1 (alias I7), removal of I7  →  V1 removed, in whatever order the two arrive

An alias may be used by one unit after the other: a removal is that of the last one before it.
Where nothing comes later than a lateness allows, an alias is kept as long as its unit is there and
has used no other since; all are kept where everything may come late.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from xstreamcast.edges.mapping.removals import removals
from xstreamcast.model.fragment import Op
from xstreamcast.model.instant import NOW, START

if TYPE_CHECKING:
    from xstreamcast.model.fragment import FragmentBatch

_FEW: Final = 1024  # units; up to as many, no aliases are looked for that can be dropped


class Named(NamedTuple):
    """A unit that used an alias: its id and tag, and when it did last and first."""

    code: int
    tag: int
    valid: int
    since: int


@dataclass(slots=True)
class Aliases:
    """What the units of one kind are known by besides their keys."""

    named: dict[int, Named] = field(default_factory=dict)  # by the code of the alias: the last one
    earlier: dict[int, list[Named]] = field(default_factory=dict)  # those before it, in order
    waiting: dict[int, set[int]] = field(default_factory=dict)  # removals that named nothing known
    gone: dict[int, int] = field(default_factory=dict)  # when units were removed, by their codes
    _newest: int = START  # the clock of the feed
    _most: int = _FEW  # how many there may be before some are dropped

    def learn(self, made: FragmentBatch, given: list[tuple[int, int]]) -> list[Named]:
        """Note (row, alias) of a batch → the removals that came before the units they name."""
        early: list[Named] = []
        self._newest = max(self._newest, int(made.clock.max(initial=START)))
        self._return(made)
        for row, alias in given:
            code, tag, valid = int(made.id[row]), int(made.tsid[row]), int(made.valid[row])
            if made.op[row] == Op.REMOVE or alias == code:
                continue
            self._use(alias, Named(code, tag, valid, valid))
            waiting = self.waiting.get(alias, set())
            due = {at for at in waiting if at >= valid}
            early += [Named(code, tag, at, valid) for at in sorted(due)]
            if due:
                waiting -= due
            if not waiting:
                self.waiting.pop(alias, None)
        return early

    def _use(self, alias: int, one: Named) -> None:
        """Note that a unit used an alias."""
        known = self.named.get(alias)
        if known is None:
            self.named[alias] = one
        elif known.code == one.code:
            last, first = max(known.valid, one.valid), min(known.since, one.since)
            self.named[alias] = known._replace(valid=last, since=first)
        else:
            late = one.valid < known.valid
            self.named[alias] = known if late else one
            insort(self.earlier.setdefault(alias, []), one if late else known, key=_since)

    def _user(self, alias: int, at: int) -> Named | None:
        """The unit that used an alias last before an instant."""
        known = self.named.get(alias)
        if known is None or known.since <= at:
            return known
        return next((o for o in reversed(self.earlier.get(alias, ())) if o.since <= at), None)

    def resolved(
        self, made: FragmentBatch, early: list[Named], lateness: int | None
    ) -> FragmentBatch:
        """The batch with removals of units that aliases name, the early ones behind it."""
        codes, tags = made.id.copy(), made.tsid.copy()
        for row in np.flatnonzero(made.op == Op.REMOVE).tolist():
            known = self._user(int(codes[row]), int(made.valid[row]))
            if known is None:
                self.waiting.setdefault(int(codes[row]), set()).add(int(made.valid[row]))
            else:
                codes[row], tags[row] = known.code, known.tag
        made = _once(replace(made, id=codes, tsid=tags))
        if early:
            code, tag, valid, _ = np.array(early, np.int64).T
            made = removals(made, tag.astype(np.int32), code.astype(np.int32), valid)
        for row in np.flatnonzero(made.op == Op.REMOVE).tolist():
            code, valid = int(made.id[row]), int(made.valid[row])
            self.gone[code] = max(valid, self.gone.get(code, valid))
        if lateness is not None:
            self._forget(lateness)
        return made

    def _forget(self, lateness: int) -> None:
        """Drop what no message may name that is at most so late; now and then, not each time."""
        if len(self.named) + len(self.waiting) + len(self.gone) <= self._most:
            return
        before = self._newest - lateness
        last: dict[int, int] = {}
        for one in self.named.values():
            last[one.code] = max(one.valid, last.get(one.code, one.valid))
        self.named = {
            alias: one
            for alias, one in self.named.items()
            if one.valid >= before
            or (
                one.valid == last[one.code]
                and not one.valid <= self.gone.get(one.code, NOW) < before
            )
        }
        self._forget_earlier(before)
        known = {one.code for one in self.named.values()}
        self.gone = {c: at for c, at in self.gone.items() if at >= before or c in known}
        timely = ((c, {at for at in some if at >= before}) for c, some in self.waiting.items())
        self.waiting = {code: some for code, some in timely if some}
        self._most = max(_FEW, 2 * (len(self.named) + len(self.waiting) + len(self.gone)))

    def _forget_earlier(self, before: int) -> None:
        """Drop units that no timely removal may be of: others used their aliases after them."""
        for alias, some in list(self.earlier.items()):
            last = self.named.get(alias)
            nexts = [one.since for one in some[1:]] + [START if last is None else last.since]
            kept = [one for one, after in zip(some, nexts, strict=True) if after > before]
            self.earlier[alias] = kept
            if not kept:
                del self.earlier[alias]

    def _return(self, made: FragmentBatch) -> None:
        """Units that are reported after they were removed are there again."""
        if not self.gone:
            return
        here = made.op != Op.REMOVE
        for code, valid in zip(made.id[here].tolist(), made.valid[here].tolist(), strict=True):
            if self.gone.get(code, valid) < valid:
                del self.gone[code]


def _since(one: Named) -> int:
    return one.since


def _once(made: FragmentBatch) -> FragmentBatch:
    """The batch with one removal of each unit and instant: its message may name it twice."""
    at = np.flatnonzero(made.op == Op.REMOVE)
    first = np.unique(np.stack((made.id[at], made.valid[at])), axis=1, return_index=True)[1]
    if len(first) == len(at):
        return made
    stays = np.ones(len(made), np.bool_)
    stays[np.delete(at, first)] = False
    return made.some(stays)
