"""When deliveries held a unit, and the removals that make its history say so.

deliveries at 8 (a), 9 (none), 10 (a)  →  a until 9 and from 10 on, in whatever order they came

A unit that comes back may say that it is valid since before its absence: a removal hides it in
between. So its contents remain where they are, whenever the delivery without it comes.

A content that would begin after the next delivery, which says something else of the unit, never
holds: a removal takes it back.

deliveries at 8 (a from 10 on), 9 (a from 12 on)  →  nothing of a from 10 to 12
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from xstreamcast.model.instant import NOW, START

ABSENT: Final = START  # in place of a valid time
TIMELESS: Final = NOW  # it does not say when it begins: with each delivery


class AttendanceStep(NamedTuple):
    """From one delivery on a unit is absent, or there with a valid time."""

    when: int
    valid: int  # what it says itself; ABSENT or TIMELESS
    begins: int  # where its content does


class Removal(NamedTuple):
    """A unit is absent from an instant to another, to NOW for good; where it ends at the instant
    there is no such absence, before it: what was said of the instant never held."""

    code: int
    valid: int
    to: int
    of_content: bool = False  # what begins there is taken back, whichever of the two comes first


@dataclass(slots=True)
class PartDeliveries:
    """The deliveries of a part of a feed, and what they held."""

    times: list[int] = field(default_factory=list)
    units: set[int] = field(default_factory=set)  # what the last one held
    tags: dict[int, int] = field(default_factory=dict)  # of all units that any held
    steps: dict[int, list[AttendanceStep]] = field(default_factory=dict)
    void: dict[int, set[int]] = field(default_factory=dict)  # when contents begin that never hold
    restored: set[tuple[int, int]] = field(default_factory=set)  # of these, what holds after all

    def enter(self, when: int) -> bool:
        """Note a delivery → whether none is later."""
        at = bisect_left(self.times, when)
        if at == len(self.times) or self.times[at] != when:
            self.times.insert(at, when)
        return at + 1 == len(self.times)

    def held(self, when: int) -> set[int]:
        """The units of the last delivery up to an instant."""
        found = ((code, _at(steps, when)) for code, steps in self.steps.items())
        return {code for code, step in found if step is not None and step.valid != ABSENT}

    def present(self, code: int, when: int, valid: int) -> list[Removal]:
        """A delivery holds a unit → removals, of which some are for a while."""
        steps = self.steps.setdefault(code, [])
        before = _at(steps, when - 1)
        begins = when if valid == TIMELESS else valid
        step = (
            None
            if before is not None and before.valid == valid
            else AttendanceStep(when, valid, begins)
        )
        return self._put(code, steps, step, when)

    def absent(self, code: int, when: int) -> list[Removal]:
        """A delivery does not hold a unit → removals."""
        steps = self.steps.get(code, [])
        before, there = _at(steps, when - 1), _at(steps, when)
        if there is None or there.valid == ABSENT:
            return []
        known = before is not None and before.valid == ABSENT
        return self._put(code, steps, None if known else AttendanceStep(when, ABSENT, when), when)

    def forget(self, before: int) -> None:
        """Drop what only deliveries before an instant need."""
        del self.times[: max(0, bisect_right(self.times, before) - 1)]
        for steps in self.steps.values():
            del steps[: max(0, bisect_right(steps, before, key=_when) - 1)]
        if self.void:
            timely = {c: {at for at in some if at >= before} for c, some in self.void.items()}
            self.void = {code: some for code, some in timely.items() if some}

    def _after(self, when: int) -> int | None:
        at = bisect_right(self.times, when)
        return self.times[at] if at < len(self.times) else None

    def _put(
        self, code: int, steps: list[AttendanceStep], step: AttendanceStep | None, when: int
    ) -> list[Removal]:
        """Let a step begin, or none where nothing changes; the next delivery remains as it is."""
        later = self._after(when)
        back = None if later is None else _at(steps, later)
        at = bisect_left(steps, when, key=_when)
        low, high = max(0, at - 2), len(steps) - min(len(steps), at + 3)
        was = _absences(steps[low : len(steps) - high])
        if at < len(steps) and steps[at].when == when:
            del steps[at]
        if step is not None:
            steps.insert(at, step)
            at += 1
        now = steps[at - 1] if at else None
        if later is not None:
            if at < len(steps) and steps[at].when == later:
                del steps[at]
            if back is None and now is not None and now.valid != ABSENT:
                steps.insert(at, AttendanceStep(later, ABSENT, later))
            elif back is not None and (now is None or back.valid != now.valid):
                steps.insert(at, back._replace(when=later))
        made = _news(code, was, _absences(steps[low : len(steps) - high]), steps)
        planned = any(one.begins > one.when for one in steps[low : len(steps) - high])
        return made + self._voided(code, steps, now) if planned or code in self.void else made

    def _voided(
        self, code: int, steps: list[AttendanceStep], now: AttendanceStep | None
    ) -> list[Removal]:
        """What takes back the contents of a unit that never hold; `now`: what is said now."""
        known, void = self.void.setdefault(code, set()), _void(steps)
        if now is not None and now.valid != ABSENT and now.begins in known - void:
            known.discard(now.begins)
            self.restored.add((code, now.begins))
        made = [Removal(code, at, at - 1, True) for at in sorted(void - known)]
        known |= void
        if not known:
            del self.void[code]
        return made


def _when(step: AttendanceStep) -> int:
    return step.when


def _at(steps: list[AttendanceStep], when: int) -> AttendanceStep | None:
    """What is true from a delivery on."""
    at = bisect_right(steps, when, key=_when)
    return steps[at - 1] if at else None


def _absences(steps: list[AttendanceStep]) -> dict[int, int]:
    """When absences begin → when the removal ends: where a content that began before returns."""
    nexts: list[AttendanceStep | None] = [*steps[1:], None]
    return {
        one.when: NOW if back is None or back.begins > one.when else back.when
        for one, back in zip(steps, nexts, strict=False)
        if one.valid == ABSENT
    }


def _void(steps: list[AttendanceStep]) -> set[int]:
    """When contents would begin that never hold: the next delivery said something else."""
    ends = [one.when for one in steps[1:]] + [NOW]
    said = [(one.begins, end) for one, end in zip(steps, ends, strict=True) if one.valid != ABSENT]
    return {at for at, end in said if end <= at} - {at for at, end in said if end > at}


def _news(
    code: int, was: dict[int, int], now: dict[int, int], steps: list[AttendanceStep]
) -> list[Removal]:
    """The removals that make the absences that were known those that are."""
    made = [Removal(code, at, to) for at, to in now.items() if was.get(at) != to]
    for at, to in was.items():
        if to == now.get(at):
            continue
        if to != NOW:
            made += [Removal(code, at, at)] if now.get(at, NOW) == NOW else []
        elif not any(one.begins == at and one.valid != ABSENT for one in steps):
            made.append(Removal(code, at, at - 1))  # else that content took its place
    return made
