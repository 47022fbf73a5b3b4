"""What has happened on the inputs of a query since the last tick."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xstreamcast.model.sequence_type import NodeItem
    from xstreamcast.operators.units.spine_view import SpineView
    from xstreamcast.operators.units.units import UnitDelta


def _unrooted(name: str | None, test: NodeItem) -> bool:
    raise AssertionError("the root is not available here")


def _no_spine(name: str | None) -> SpineView | None:
    raise AssertionError("the elements of the root are not available here")


@dataclass(frozen=True, slots=True)
class Tick:
    """What happened since the last one: moves by input, inputs that said anything, the clock."""

    moves: Mapping[str | None, list[UnitDelta]]
    touched: frozenset[str | None]
    clock_moved: bool
    everything: Callable[[str | None], UnitDelta]
    again: Callable[
        [Sequence[str], str | None], list[UnitDelta]
    ]  # some units, to be evaluated again
    decided: bool = True  # nothing is missing that an answer may have to wait for
    ended: frozenset[str | None] = frozenset()
    passing: frozenset[str | None] = frozenset()  # inputs whose units are not kept
    dropped: frozenset[str | None] = frozenset()  # inputs of which units were dropped
    rooted: Callable[[str | None, NodeItem], bool] = _unrooted  # whether a stream has such a root
    spine: Callable[[str | None], SpineView | None] = _no_spine  # the elements of a root
    leaving: bool = False  # units go that are read once: what was emitted for them stays

    def keeps(self, name: str | None) -> bool:
        """Whether units of an input can be read again."""
        return name not in self.passing
