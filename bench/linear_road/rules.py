"""The answers of Linear Road, computed from the whole input by its rules, one car at a time.

Nothing here uses the engine: sums are exact fractions, and time runs through plain loops.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from math import floor

from bench.linear_road import layout as f
from bench.linear_road.dialect import Dialect
from bench.linear_road.layout import Rows, minute
from bench.linear_road.segment_history import Past

Segment = tuple[int, int, int]  # expressway, direction, segment
Place = tuple[int, int, int, int]  # expressway, direction, lane, position
_MINUTES, _CROWD, _SLOW, _STOP, _AHEAD = 5, 50, 40, 4, 4
_TRIP_ENDS = 60  # seconds without a report
_BLOCK = 1 << 16  # rows


@dataclass(slots=True)
class Truth:
    """What must be answered: tolls and accidents by car and second, the others by request."""

    tolls: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)  # LAV, toll
    accidents: dict[tuple[int, int], int] = field(default_factory=dict)  # the accident's segment
    balances: dict[int, tuple[int, int]] = field(default_factory=dict)  # QID → second, car
    expenditures: dict[int, tuple[int, int]] = field(default_factory=dict)  # second, amount
    travels: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # second, time, toll
    charges: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # of a car: when, sum
    quoted: dict[int, list[int]] = field(default_factory=dict)  # of a car: when tolls were told


def truth(
    rows: Rows,
    history: Mapping[tuple[int, int, int], int],
    dialect: Dialect,
    past: Past | None = None,
) -> Truth:
    """All answers for an input, a toll history by car, day and expressway, and segments' past."""
    out = Truth()
    statistics = Statistics(rows, dialect)
    affected = _affected(rows, dialect)
    cars: dict[int, _Car] = {}
    for row in reports(rows):
        car = cars.setdefault(row[f.VID], _Car(dialect))
        entered = car.take(row)
        if entered:
            _notify(row, car, statistics, affected, out)
    out.charges = {vid: car.charges for vid, car in cars.items()}
    out.quoted = {vid: car.quoted for vid, car in cars.items()}
    for row in lists(rows):
        time, vid, qid = row[f.TIME], row[f.VID], row[f.QID]
        if row[f.TYPE] == f.BALANCE:
            out.balances[qid] = time, vid
        elif row[f.TYPE] == f.EXPENDITURE:
            amount = history.get((vid, row[f.DAY], row[f.XWAY]))
            if amount is not None:  # without a row of history there is no answer
                out.expenditures[qid] = time, amount
        elif row[f.TYPE] == f.TRAVEL and past is not None:
            out.travels[qid] = time, *_travel(row, past)
    return out


def _travel(row: list[int], past: Past) -> tuple[int, int]:
    """Seconds and toll of a trip: each segment as it was in the minute of the day of its entry."""
    first, last = row[f.SINIT], row[f.SEND]
    direction, step = (0, 1) if first <= last else (1, -1)
    seconds = toll = 0
    for segment in range(first, last + step, step):
        hour = (row[f.TOD] - 1 + seconds // 60) % 1440 // 60
        velocities, cars = past[row[f.XWAY], direction, row[f.DOW], segment]
        seconds += 3600 // velocities[hour]
        if velocities[hour] < _SLOW and cars[hour] > _CROWD:
            toll += 2 * (cars[hour] - _CROWD) ** 2
    return seconds, toll


def _notify(
    row: list[int], car: _Car, statistics: Statistics, affected: _Affected, out: Truth
) -> None:
    time, vid, segment = row[f.TIME], row[f.VID], _segment(row)
    near = affected.nearest(segment, minute(time))
    velocity = statistics.velocity(segment, minute(time))
    toll = 0 if near is not None else statistics.toll(segment, minute(time))
    out.tolls[vid, time] = velocity, toll
    if near is not None:
        out.accidents[vid, time] = near
    car.quote(time, toll)


class _Car:
    """Where a car is, which toll it was told, and what it has paid so far."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._last: list[int] | None = None
        self._visited: set[Segment] = set()
        self._pending: int | None = None
        self.charges: list[tuple[int, int]] = []
        self.quoted: list[int] = []

    def take(self, row: list[int]) -> bool:
        """Take a report in → whether it is the first from a segment, off the exit ramp."""
        last, self._last = self._last, row
        if self._dialect.trips:
            return self._crosses(last, row)
        first = row[f.LANE] != f.EXIT and _segment(row) not in self._visited
        if first:
            self._visited.add(_segment(row))
        return first

    def _crosses(self, last: list[int] | None, row: list[int]) -> bool:
        fresh = last is None or last[f.LANE] == f.EXIT or _reenters(last, row)
        if fresh:
            self._pending = None  # what was told before the exit is not paid
        elif last is not None and _segment(last) == _segment(row):
            return False
        if row[f.LANE] == f.EXIT and self._dialect.pays_at_exit:
            self._pay(row[f.TIME])
        return row[f.LANE] != f.EXIT

    def quote(self, time: int, toll: int) -> None:
        """A toll is told; the one before it is paid, because the car went on."""
        self._pay(time)
        self._pending = toll
        self.quoted.append(time)

    def _pay(self, time: int) -> None:
        if self._pending is not None:
            before = self.charges[-1][1] if self.charges else 0
            self.charges.append((time, before + self._pending))
            self._pending = None


class Statistics:
    """Cars and speeds by segment and minute."""

    def __init__(self, rows: Rows, dialect: Dialect) -> None:
        self._dialect = dialect
        self.cars: dict[tuple[Segment, int], int] = {}
        self._speeds: dict[tuple[Segment, int], tuple[Fraction, int]] = {}
        self._known: dict[tuple[Segment, int], int] = {}
        made = _of_cars if dialect.speeds == "means" else _of_readings
        for at, during in groupby(reports(rows), key=lambda row: minute(row[f.TIME])):
            speeds: dict[Segment, dict[int, list[int]]] = defaultdict(dict)
            for row in during:
                speeds[_segment(row)].setdefault(row[f.VID], []).append(row[f.SPD])
            for segment, by_car in speeds.items():
                self.cars[segment, at] = len(by_car)
                self._speeds[segment, at] = made(list(by_car.values()))

    def velocity(self, segment: Segment, at: int) -> int:
        """LAV: of the five minutes before."""
        if (segment, at) not in self._known:
            self._known[segment, at] = self._velocity(segment, at)
        return self._known[segment, at]

    def _velocity(self, segment: Segment, at: int) -> int:
        cells = [(segment, m) for m in range(at - _MINUTES, at)]
        found = [self._speeds[one] for one in cells if one in self._speeds]
        if not found:
            return self._dialect.unknown
        mean = sum(total for total, _ in found) / Fraction(sum(n for _, n in found))
        return floor(mean + Fraction(1, 2)) if self._dialect.round_up else floor(mean)

    def toll(self, segment: Segment, at: int) -> int:
        """What a segment costs in a minute, if there is no accident."""
        cars = self.cars.get((segment, at - 1), 0)
        if cars <= _CROWD or self.velocity(segment, at) >= _SLOW:
            return 0
        return 2 * (cars - _CROWD) ** 2


def _of_cars(cars: list[list[int]]) -> tuple[Fraction, int]:
    """The mean of the means of cars: one value of a minute."""
    return sum((Fraction(sum(car), len(car)) for car in cars), Fraction(0)) / len(cars), 1


def _of_readings(cars: list[list[int]]) -> tuple[Fraction, int]:
    """All readings of a minute."""
    return Fraction(sum(map(sum, cars))), sum(map(len, cars))


@dataclass(frozen=True, slots=True)
class _Affected:
    """Segments of accidents by expressway, direction and the minute that they affect."""

    accidents: Mapping[tuple[int, int, int], set[int]]

    def nearest(self, segment: Segment, at: int) -> int | None:
        """The segment of the nearest accident, up to four segments downstream."""
        x, direction, own = segment
        step = 1 if direction == 0 else -1
        there = self.accidents.get((x, direction, at), set())
        ahead = (own + step * n for n in range(_AHEAD + 1))
        return next((one for one in ahead if one in there), None)


def _affected(rows: Rows, dialect: Dialect) -> _Affected:
    """Minutes after one in which two cars stood at one place."""
    standing: dict[tuple[Place, int], set[int]] = defaultdict(set)
    runs: dict[int, tuple[Place, int, int]] = {}  # of a car: where, since how many reports, when
    for row in reports(rows):
        vid, time = row[f.VID], row[f.TIME]
        place = row[f.XWAY], row[f.DIR], row[f.LANE], row[f.POS]
        before = runs.get(vid)
        same = before is not None and before[0] == place and time - before[2] <= _TRIP_ENDS
        runs[vid] = place, (before[1] + 1 if same and before is not None else 1), time
        if runs[vid][1] >= _STOP:
            standing[place, minute(time)].add(vid)
        elif dialect.clears == "moved" and before is not None and before[1] >= _STOP:
            standing[before[0], minute(time)].discard(vid)
    out: dict[tuple[int, int, int], set[int]] = defaultdict(set)
    for ((x, direction, _, position), at), cars in standing.items():
        if len(cars) >= 2:
            out[x, direction, at + 1].add(position // f.FEET)
    return _Affected(out)


def _reenters(last: list[int], row: list[int]) -> bool:
    return row[f.LANE] == f.ENTRY and row[f.TIME] - last[f.TIME] > _TRIP_ENDS


def lists(rows: Rows) -> Iterator[list[int]]:
    """The rows as lists. Not all at once: three hours of rows as lists take gigabytes."""
    for start in range(0, len(rows), _BLOCK):
        yield from rows[start : start + _BLOCK].tolist()


def reports(rows: Rows) -> Iterator[list[int]]:
    """The position reports among the rows, in the order of their times."""
    return (row for row in lists(rows) if row[f.TYPE] == f.REPORT)


def _segment(row: list[int]) -> Segment:
    return row[f.XWAY], row[f.DIR], row[f.SEG]
