"""The input of Linear Road by scale and seed, second by second; and the history it asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from bench.linear_road import layout as f
from bench.linear_road.draws import Draws, Ints
from bench.linear_road.layout import Rows
from bench.linear_road.traffic import Demand, Expressway

DAYS = 69  # of toll history
_WEEK = 7


@dataclass(frozen=True, slots=True)
class Scale:
    """`halves`: twice L; a half expressway is its westbound direction."""

    halves: int = 1
    seed: int = 1
    duration: int = 10_800
    demand: Demand = field(default_factory=Demand)

    def expressways(self) -> list[Expressway]:
        """Each draws for itself, so that more of them do not change the others."""
        whole, half = divmod(self.halves, 2)
        made = [Expressway(x, self.seed, self.demand) for x in range(whole)]
        return made + [Expressway(whole, self.seed, self.demand, (1,)) for _ in range(half)]


@dataclass(slots=True)
class Input:
    """seconds()  →  the tuples of each second in turn; then `asked` holds what history needs."""

    scale: Scale
    asked: list[tuple[int, int, int]] = field(default_factory=list)  # car, day, expressway
    _next_vid: int = 0
    _next_qid: int = 0
    _back: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    def seconds(self) -> Iterator[tuple[int, Rows]]:
        """Reports by expressway and car, each request behind the report it comes with."""
        roads, draws = self.scale.expressways(), Draws(self.scale.seed, "requests")
        for second in range(self.scale.duration):
            again = self._back.pop(second, [])
            found = []
            for road in roads:
                fresh = road.arrivals()
                vids = np.arange(self._next_vid, self._next_vid + fresh)
                self._next_vid += fresh
                returning = np.array([v for x, v in again if x == road.number], np.int64)
                road.enter(second, np.concatenate((vids, returning)))
                reports, left = road.step(second)
                found.append(self._with_requests(reports, draws, len(roads)))
                self._reenter(second, road.number, left, draws, len(roads))
            yield second, np.concatenate(found)

    def _reenter(self, second: int, x: int, left: Ints, draws: Draws, roads: int) -> None:
        """One of ten comes back after 61 to 1061 seconds, on another expressway if there is one."""
        for vid in left[draws.chance(100, len(left))].tolist():
            when = second + int(draws.between(61, 1061)[0])
            where = (x + 1 + int(draws.below(max(roads - 1, 1), 1)[0])) % roads
            self._back.setdefault(when, []).append((where, vid))

    def _with_requests(self, reports: Rows, draws: Draws, roads: int) -> Rows:
        """One report of a hundred comes with a request: balance 50, expenditure 10, travel 40 %."""
        at = np.flatnonzero(draws.chance(10, len(reports)))
        if not len(at):
            return reports
        made = f.blank(len(at))
        made[:, (f.TIME, f.VID)] = reports[at][:, (f.TIME, f.VID)]
        made[:, f.QID] = np.arange(self._next_qid, self._next_qid + len(at))
        self._next_qid += len(at)
        kind = draws.below(10, len(at))
        made[:, f.TYPE] = np.select([kind < 5, kind < 6], [f.BALANCE, f.EXPENDITURE], f.TRAVEL)
        made[:, f.XWAY] = draws.below(roads, len(at))
        self._expenditures(made, draws)
        self._travels(made, draws)
        made[made[:, f.TYPE] == f.BALANCE, f.XWAY] = -1
        return np.insert(reports, at + 1, made, axis=0)

    def _expenditures(self, made: Rows, draws: Draws) -> None:
        at = np.flatnonzero(made[:, f.TYPE] == f.EXPENDITURE)
        made[at, f.DAY] = draws.between(1, DAYS, len(at))
        for row in made[at].tolist():
            self.asked.append((row[f.VID], row[f.DAY], row[f.XWAY]))

    def _travels(self, made: Rows, draws: Draws) -> None:
        at = np.flatnonzero(made[:, f.TYPE] == f.TRAVEL)
        made[at, f.SINIT] = draws.below(f.SEGMENTS, len(at))
        made[at, f.SEND] = draws.below(f.SEGMENTS, len(at))
        made[at, f.DOW] = draws.between(1, _WEEK, len(at))
        made[at, f.TOD] = draws.between(1, 1440, len(at))

    def toll_history(self) -> Rows:
        """Car, day, expressway, toll: nine of ten that were asked for, and others."""
        draws = Draws(self.scale.seed, "toll history")
        asked = np.array(sorted(set(self.asked)), np.int64).reshape(-1, 3)
        asked = asked[draws.chance(900, len(asked))]
        n = len(asked) + 100
        others = np.stack(
            (draws.below(self._next_vid + 1, n), draws.between(1, DAYS, n),
             draws.below((self.scale.halves + 1) // 2, n)), axis=1,
        )  # fmt: skip
        both = np.concatenate((asked, others))
        _, first = np.unique(both[:, :2], axis=0, return_index=True)  # one row a car and day
        kept = both[np.sort(first)]
        kept = kept[np.lexsort((kept[:, 1], kept[:, 0]))]
        return np.column_stack((kept, draws.below(99, len(kept))))
