"""A query whose units are asked in several places, and told in one.

In each place stands a watch over the root and its own units; where the answer is told, operators
take in what all of them found:  ask in every place, then take  →  what one watch would tell
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from xstreamcast.algebra.cut import TagCut
from xstreamcast.algebra.division import Division, Grouped, Listed, Part
from xstreamcast.algebra.windowed import Windowed
from xstreamcast.model.items import Items
from xstreamcast.operators.asking import Asking, Tuple
from xstreamcast.operators.concatenation import Concatenation
from xstreamcast.operators.document_feed import Forbidden
from xstreamcast.operators.folds import Counting, Folding
from xstreamcast.operators.found import Found
from xstreamcast.operators.fragment_feed import FragmentFeed
from xstreamcast.operators.inner import Unmaintained
from xstreamcast.operators.keeping import Keeping
from xstreamcast.operators.pipeline import Pipeline, Tick
from xstreamcast.operators.sorting import Sorting
from xstreamcast.operators.watch import Policy, Watch

if TYPE_CHECKING:
    from xstreamcast.kernels.intern import Ids
    from xstreamcast.model.change import Change
    from xstreamcast.model.structure import TagStructure

Mine = Callable[[str], bool]  # whether a unit of this id is asked here


@dataclass(frozen=True, slots=True)
class Phase:
    """What was found of one part: first what arrived, then what the clock or an error made due."""

    part: int
    turn: int
    found: Found


def why_in_one_place(division: Division, policy: Policy) -> str | None:
    """Why units cannot be asked in several places, in words."""
    if not division.parts:
        return "nothing is computed unit by unit"
    inputs = {part.input for part in division.parts}
    if len(inputs) > 1:
        return "it is divided by the units of several streams"
    (name,) = inputs
    if not isinstance(division.cuts[name], TagCut):
        return "its units are those of a document"
    plain = division.plain and division.parts[0].fold == "items"
    if name in division.whole or (division.whole and not plain):
        return "what follows from units reads a stream whole"
    if policy == "strict" and not (plain and isinstance(division.parts[0].shape, Listed)):
        return "answers that wait for what is missing are told where all of it is seen"
    return next((why for why in map(_why, division.parts) if why is not None), None)


def _why(part: Part) -> str | None:
    if part.probes:
        return "units meet units: a join"
    if part.numbered is not None:
        return "positions go on over all units"
    if part.around is not None:
        return "it counts what stands around units"
    if part.limit is not None:
        return "only the first items count"
    if part.input in part.others:
        return "units read the whole of their own stream"
    match part.shape:
        case Windowed():
            return "windows go over all units"
        case Grouped():
            return "a group is made of units that may be anywhere"
        case _:
            return None


class _Asked(Pipeline):
    """Operators that are asked, and tell nothing."""

    found: tuple[Phase, ...] = ()

    def on_tick(self, tick: Tick, asking: Asking, instant: int) -> list[Change]:
        upset, self._upset, self.found = self._upset, True, ()
        made = []
        for number, (part, operator) in enumerate(operators(self)):
            arrived = len(tick.moves.get(part.input, ()))
            for at, (moved, how) in enumerate(self._moves(part, tick, asking, upset)):
                made.append(Phase(number, int(at >= arrived), operator.ask(moved, how)))
        self._upset, self.found = False, tuple(made)
        return []


def operators(
    pipeline: Pipeline,
) -> list[tuple[Part, Concatenation | Sorting | Counting | Folding | Keeping]]:
    """Those of a query that may be spread, each with its part."""
    told = [] if pipeline.teller is None else [(pipeline.division.parts[0], pipeline.teller)]
    both: list[tuple[Part, Any]] = [*told, *pipeline.valued]
    for _, one in both:
        assert isinstance(one, Concatenation | Sorting | Counting | Folding | Keeping)
    return both


class UnitsWatch(Watch):
    """A watch over the root and some units: `asked` is what a tick found, None if it broke off."""

    mine: Mine

    def _describe(self, name: str, structure: TagStructure, ids: Ids | None) -> None:
        super()._describe(name, structure, ids)
        feed = self._feeds[name]
        assert isinstance(feed, FragmentFeed)
        feed.mine = self.mine

    def _divide(self) -> None:
        super()._divide()
        assert self.pipeline is not None
        if type(self.pipeline) is Pipeline:
            self.pipeline = _Asked(self.pipeline.division)

    def _give_up_cut(self, why: Forbidden) -> None:
        if not isinstance(why, Unmaintained):
            raise why
        super()._give_up_cut(why)

    def asked(self) -> list[Phase] | None:
        """Ask what has moved since the last time."""
        if isinstance(self.pipeline, _Asked):
            self.pipeline.found = ()
        self.tick()
        if not isinstance(self.pipeline, _Asked):
            return []
        return None if self.pipeline._upset else [_sent(one) for one in self.pipeline.found]


def _sent(one: Phase) -> Phase:
    """What was found, without what belongs to this place."""
    found = one.found
    places = found.places if found.reordered or found.complete else {}
    values = [_plain(value) for value in found.values]
    return replace(one, found=replace(found, values=values, places=places))


def _plain(value: Any) -> Any:
    """A value without the store that it was read from."""
    match value:
        case Items():
            return _bare(value)
        case (Items() as items, dict() as tapes):
            return _bare(items), tapes
        case [Tuple(), *_]:
            return [Tuple(tuple(map(_bare, one.keys)), one.items) for one in value]
        case _:
            return value


def _bare(items: Items) -> Items:
    return Items.mixed(items.all_tags().tolist(), items.values.tolist())


def merged(phases: Iterable[Phase], places: Mapping[str, int]) -> list[Phase]:
    """What was found in several places, as if it had been found in one; units in their order."""
    found: dict[tuple[int, int], list[Found]] = {}
    for one in phases:
        found.setdefault((one.turn, one.part), []).append(one.found)
    return [Phase(part, turn, _one(found[turn, part], places)) for turn, part in sorted(found)]


def _one(found: Sequence[Found], places: Mapping[str, int]) -> Found:
    both = {key: value for one in found for key, value in one.pairs()}
    keys = sorted(both, key=lambda key: places.get(key, 0))
    gone = dict.fromkeys(key for one in found for key in one.gone)
    return Found(
        tuple(keys), [both[key] for key in keys], tuple(gone), places,
        reordered=any(one.reordered for one in found),
        complete=any(one.complete for one in found),
    )  # fmt: skip


def told(
    pipeline: Pipeline, phases: Sequence[Phase], asking: Asking, instant: int, clock_moved: bool
) -> list[Change]:
    """The changes of the answer, from what was found elsewhere."""
    if pipeline.teller is not None:
        teller = pipeline.teller
        assert isinstance(teller, Concatenation | Sorting)
        return [change for one in phases for change in teller.take(one.found, instant)]
    known = [operator for _, operator in operators(pipeline)]
    changed = pipeline._fresh
    for one in phases:
        operator = known[one.part]
        assert isinstance(operator, Counting | Folding | Keeping)
        changed = operator.take(one.found) or changed
    if not changed and not (pipeline.division.clock and clock_moved):
        return []
    return pipeline.rewritten(asking, instant)
