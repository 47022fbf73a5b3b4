"""Cars on one expressway: arrivals, motion by density, exits, accidents and breakdowns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bench.linear_road import layout as f
from bench.linear_road.draws import Draws, Ints
from bench.linear_road.layout import Rows

_FREE, _SLOWEST = 65, 8  # miles per hour
_VID, _DIR, _PLACE, _SPEED, _LANE, _EXIT, _DIRECT, _STOPPED, _NEXT, _SEEN = range(10)
_LAST = f.SEGMENTS * f.FEET - 1


@dataclass(frozen=True, slots=True)
class Demand:
    """Who wants to drive: arrivals in 1000 s, where from, and when things go wrong."""

    arrivals: int = 12_700  # cars of a whole expressway in 1000 seconds
    first_segment: int = 0
    segments: int = f.SEGMENTS  # cars enter in so many, from the first one on
    crowded: int = 600  # cars in a segment, in one direction, at which traffic is slowest
    first_accident: int = 600
    between_accidents: int = 1200
    lasts: tuple[int, int] = (600, 1200)


@dataclass(slots=True)
class Expressway:
    """step(t)  →  the reports of second t, and the cars that left in it.

    A row of `cars` is a car. Its place counts feet along its own direction, so that both are alike.
    """

    number: int
    seed: int
    demand: Demand
    directions: tuple[int, ...] = (0, 1)
    cars: Rows = field(default_factory=lambda: np.zeros((0, 10), np.int64))
    _draws: Draws = field(init=False)
    _accident: int = field(init=False)
    _breakdown: int = field(init=False)

    def __post_init__(self) -> None:
        self._draws = Draws(self.seed, f"expressway {self.number}")
        self._accident = self.demand.first_accident
        self._breakdown = self.demand.first_accident // 2

    def arrivals(self) -> int:
        """How many cars enter in this second."""
        return self._draws.arrivals(self.demand.arrivals * len(self.directions) // 2)

    def enter(self, second: int, vids: Ints) -> None:
        """New cars on entry ramps; the last two segments of a direction have none."""
        n, draws = len(vids), self._draws
        if not n:
            return
        made = np.zeros((n, 10), np.int64)
        made[:, _VID] = vids
        made[:, _DIR] = np.array(self.directions)[draws.below(len(self.directions), n)]
        segment = self.demand.first_segment + draws.below(self.demand.segments, n)
        segment = np.where(made[:, _DIR] == 0, segment, f.SEGMENTS - 1 - segment)
        segment = np.minimum(segment, f.SEGMENTS - 3)
        made[:, _PLACE] = segment * f.FEET + draws.below(f.FEET // 10, n)
        made[:, _SPEED] = draws.between(10, 35, n)
        made[:, _LANE] = f.ENTRY
        made[:, _EXIT] = segment + 2 + draws.below(f.SEGMENTS - 2 - segment, n)
        made[:, _DIRECT] = draws.chance(100, n)
        made[:, _NEXT] = second
        self.cars = np.concatenate((self.cars, made))

    def step(self, second: int) -> tuple[Rows, Ints]:
        """Move the cars that report in this second."""
        due = np.flatnonzero(self.cars[:, _NEXT] == second)
        known = due[self.cars[due, _SEEN] > 0]  # reported before
        self._move(known, second)
        self._mishaps(second, known)
        reports = self._reports(second, due)
        self.cars[due, _SEEN] = 1
        self.cars[due, _NEXT] = second + f.PERIOD
        gone = due[self.cars[due, _LANE] == f.EXIT]
        left = self.cars[gone, _VID].copy()
        if len(gone):
            self.cars = np.delete(self.cars, gone, axis=0)
        return reports, left

    def _move(self, rows: Ints, second: int) -> None:
        cars, draws, n = self.cars, self._draws, len(rows)
        crowd = np.bincount(self._cell(np.arange(len(cars))), minlength=2 * f.SEGMENTS)
        crowd = crowd[self._cell(rows)]
        crowded = self.demand.crowded
        wanted = np.clip(_FREE * (crowded - crowd) // crowded, _SLOWEST, _FREE)
        wanted = np.minimum(wanted, self._held_up(rows, second))
        speed = np.clip(wanted + draws.between(-5, 5, n), 3, 100)
        ahead = (cars[rows, _SPEED] + speed) * 22  # feet in 30 s at the mean of both: v · 44
        leaving = cars[rows, _PLACE] // f.FEET == cars[rows, _EXIT]
        place = cars[rows, _PLACE] + np.minimum(ahead, f.FEET - 1)
        end = (cars[rows, _EXIT] + 1) * f.FEET - 1
        place = np.minimum(place, end)
        direct = (place // f.FEET == cars[rows, _EXIT]) & (cars[rows, _DIRECT] == 1)
        out = leaving | direct
        lane = np.where(out, f.EXIT, draws.between(1, 3, n))
        stays = cars[rows, _STOPPED] > second
        cars[rows, _PLACE] = np.where(stays, cars[rows, _PLACE], place)
        cars[rows, _SPEED] = np.where(stays, 0, np.where(out, 10, speed))
        cars[rows, _LANE] = np.where(stays, cars[rows, _LANE], lane)

    def _cell(self, rows: Ints) -> Ints:
        cell = self.cars[rows, _DIR] * f.SEGMENTS + self.cars[rows, _PLACE] // f.FEET
        return np.asarray(cell, np.int64)

    def _held_up(self, rows: Ints, second: int) -> Ints:
        """Behind stopped cars, in this segment and the two before it, traffic creeps."""
        blocked = np.zeros(2 * f.SEGMENTS + 2, bool)
        for cell in self._cell(np.flatnonzero(self.cars[:, _STOPPED] > second)).tolist():
            blocked[max(cell - 2, cell // f.SEGMENTS * f.SEGMENTS) : cell + 1] = True
        return np.where(blocked[self._cell(rows)], 15, _FREE)

    def _mishaps(self, second: int, due: Ints) -> None:
        """Two cars crash, or one breaks down, among those that report now."""
        if second >= self._accident and self._crash(due, second):
            lasts = int(self._draws.between(*self.demand.lasts)[0])
            stopped = self.cars[:, _STOPPED] == -1
            self.cars[stopped, _STOPPED] = second + lasts
            self._accident = second + lasts + self.demand.between_accidents
        if second >= self._breakdown:
            alone = due[self._drives(due)][:1]
            # three reports at one place are no stop; four or more are one, but no accident
            lasts = f.PERIOD * int(self._draws.between(2, 7)[0])
            self.cars[alone, _STOPPED] = second + lasts
            self.cars[alone, _SPEED] = 0
            self._breakdown = second + self.demand.between_accidents // 2

    def _drives(self, rows: Ints) -> Ints:
        lane, stopped = self.cars[rows, _LANE], self.cars[rows, _STOPPED]
        moving = (lane >= 1) & (lane <= 3) & (stopped == 0) & (self.cars[rows, _SPEED] > 0)
        staying = self.cars[rows, _PLACE] // f.FEET < self.cars[rows, _EXIT]
        return np.asarray(moving & staying & (self.cars[rows, _SEEN] > 0), bool)

    def _crash(self, due: Ints, second: int) -> bool:
        cars = self.cars
        for one in due[self._drives(due)].tolist():
            near = np.flatnonzero(
                self._cell(np.arange(len(cars))) == self._cell(np.array([one]))[0]
            )
            near = near[self._drives(near) & (near != one)]
            if len(near):
                pair = np.array([one, near[0]])
                cars[pair, _PLACE] = cars[pair, _PLACE].max()
                cars[pair, _LANE] = cars[one, _LANE]
                cars[pair, _SPEED] = 0
                cars[pair, _STOPPED] = -1
                return True
        return False

    def _reports(self, second: int, due: Ints) -> Rows:
        cars = self.cars[due]
        out = f.blank(len(due))
        forward = cars[:, _DIR] == 0
        position = np.where(forward, cars[:, _PLACE], _LAST - cars[:, _PLACE])
        out[:, f.TYPE], out[:, f.TIME], out[:, f.XWAY] = f.REPORT, second, self.number
        out[:, f.VID], out[:, f.SPD], out[:, f.LANE] = (
            cars[:, _VID],
            cars[:, _SPEED],
            cars[:, _LANE],
        )
        out[:, f.DIR], out[:, f.SEG], out[:, f.POS] = cars[:, _DIR], position // f.FEET, position
        return out[np.argsort(out[:, f.VID], kind="stable")]
