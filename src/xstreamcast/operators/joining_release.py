"""What a join need not keep when one of its inputs has ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xstreamcast.algebra.division import Listed, Part, Sorted

if TYPE_CHECKING:
    from xstreamcast.operators.joining import Joining, Side


@dataclass(slots=True)
class Released:
    """Units that nobody will ask for again, by input; and inputs of which that holds for all."""

    units: dict[str | None, list[str]] = field(default_factory=dict)
    inputs: set[str | None] = field(default_factory=set)


def released(
    parts: Sequence[Part], joins: Mapping[int, Joining], ended: Set[str | None]
) -> Released:
    """Let joins forget what only the future of an ended input could have met.

    The other input has ended: no driven unit is asked again. All but one have ended: of that one,
    units that meet nothing are not needed; none will come that meets them.
    """
    found, joinings = Released(), [*joins.values()]
    for joining in joinings:
        for side in joining.sides:
            if side.probe.input in ended and not joining.part.clock:
                side.finish()
    names = {name for part in parts for name in part.inputs}
    for name in names:
        if all(_is_done(part, name, ended) for part in parts if name in part.inputs):
            found.inputs.add(name)
        elif all(part.input != name for part in parts):
            sides = [s for j in joinings for s in j.sides if s.probe.input == name]
            if all(_alone(j.part, name, ended) for j in joinings if name in j.part.inputs):
                found.units[name] = _unmet(sides)
    return found


def _is_done(part: Part, name: str | None, ended: Set[str | None]) -> bool:
    """Whether a part will not ask for units of an input again."""
    if part.clock:
        return False
    others = (part.inputs | part.others) - {name}
    if part.input == name:
        return others <= ended and isinstance(part.shape, Listed | Sorted)
    return part.inputs | part.others <= ended


def _alone(part: Part, name: str | None, ended: Set[str | None]) -> bool:
    """Whether an input is the only one of a part that has not ended."""
    others = (part.inputs | part.others) - {name}
    return not part.clock and others <= ended


def _unmet(sides: Iterable[Side]) -> list[str]:
    """The units of the other input that meet nothing in any join."""
    unmet: set[str] | None = None
    for side in sides:
        own = set(side.unmet())
        unmet = own if unmet is None else unmet & own
    for side in sides:
        for unit in unmet or ():
            side.theirs.drop(unit)
    return sorted(unmet or ())
