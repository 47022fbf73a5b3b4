"""Where the answer of a query is told whose units are spread: what all buckets found, in order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from xstreamcast.errors import Error
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.moments import Moment
from xstreamcast.model.fragment import Described
from xstreamcast.operators.apart import Phase, merged, told
from xstreamcast.operators.found import Found
from xstreamcast.operators.pipeline import Pipeline
from xstreamcast.operators.watch import Watch
from xstreamcast.spark.watching.messages import Back, Part

if TYPE_CHECKING:
    from xstreamcast.model.change import Change
    from xstreamcast.model.fragment import Refused
    from xstreamcast.spark.watching.host import Asked


class Teller:
    """The answer of one query; it hears the buckets of a batch at once.

    changes  →  those of one watch over all that the buckets have
    """

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.refused: list[Refused] = []
        self.said: dict[str, int] = {}
        self.ended = False
        self._watch = self._plan()
        self._ticked_at: Moment | None = None
        self._places: Mapping[str, int] = {}
        self._held: list[Phase] = []  # found while an error elsewhere kept the answer back
        self._broken: set[int] = set()  # buckets whose units fail; they speak when that may change
        self._upset = False  # an error broke off what follows from units

    def _plan(self) -> Watch | None:
        if len(self.asked.programs) > 1:
            return None
        (program,) = self.asked.programs.values()
        return Watch(
            program, self.asked.kinds, variables=self.asked.variables, policy=self.asked.policy,
            circuits=False,
        )  # fmt: skip

    def take(self, backs: Iterable[Back]) -> list[Change]:
        """What buckets say in a batch → the changes."""
        turns: defaultdict[int, list[Back]] = defaultdict(list)
        for one in backs:
            turns[one.turn].append(one)
        return [change for turn in sorted(turns) for change in self._turn(turns[turn])]

    def _turn(self, backs: list[Back]) -> list[Change]:
        for one in backs:
            self.refused += one.refused
            for what, count in (pair for said in one.said for pair in said.items()):
                self.said[what] = self.said.get(what, 0) + count
            self.ended = self.ended or one.ended
        whole = next((one for one in backs if one.changes is not None), None)
        return self._spread(backs) if whole is None else self._in_one_place(whole)

    def _in_one_place(self, back: Back) -> list[Change]:
        """Changes as they were made; what was told before that is taken back."""
        retracted: list[Change] = []
        if back.anew and self._watch is not None and self._watch.pipeline is not None:
            retracted = self._watch._owed + self._watch.pipeline.retracted(back.now.instant)
        self._watch, self._held, self._places = None, [], {}
        return [*retracted, *(back.changes or ())]

    def _spread(self, backs: list[Back]) -> list[Change]:
        assert self._watch is not None
        for part in (part for one in backs for part in one.parts):
            self._hear(part)
        watch, phases = self._watch, [one for back in backs for one in back.phases or ()]
        watch.now = max((back.now for back in backs), key=lambda now: now.instant)
        for one in phases:
            if one.found.reordered or one.found.complete:
                self._places = one.found.places
        if watch.pipeline is None:
            return []
        self._broken -= {back.bucket for back in backs if back.phases is not None}
        self._broken |= {back.bucket for back in backs if back.phases is None}
        if self._broken:
            self._held += [replace(one, turn=0) for one in phases]
            return []
        held, self._held = self._held, []
        return self._tell(watch, [*held, *self._again(), *phases])

    def _again(self) -> list[Phase]:
        """All units, as if they had been asked again: what failed is tried once more."""
        assert self._watch is not None
        assert self._watch.pipeline is not None
        if not self._upset:
            return []
        parts = range(len(self._watch.pipeline.division.parts))
        return [Phase(n, 0, Found(reordered=True, complete=True)) for n in parts]

    def _tell(self, watch: Watch, phases: list[Phase]) -> list[Change]:
        assert isinstance(watch.pipeline, Pipeline)
        clock_moved, asking = watch.now != self._ticked_at, watch._asking()
        found = merged(phases, self._places)
        self._upset = True
        try:
            changes = deep(
                partial(told, watch.pipeline, found, asking, watch.now.instant, clock_moved)
            )
        except Error:
            if not set(watch.kinds) - watch.ended:
                raise
            return []
        finally:
            asking.release()
        self._upset, self._ticked_at = False, watch.now
        owed, watch._owed = watch._owed, []
        return owed + changes

    def _hear(self, part: Part) -> None:
        assert self._watch is not None
        match part:
            case ("described", str(name), structure, Moment() as now):
                before = self._watch.pipeline
                self._watch.reach(now)
                self._watch.on_arrivals(name, [Described(structure)])
                if self._watch.pipeline is not before:
                    self._held, self._places, self._upset = [], {}, False
                    self._broken = set()
            case ("ended", str(name)):
                self._watch.on_end(name)
            case _:
                raise AssertionError(part)
