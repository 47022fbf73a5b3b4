"""Which fragments say by themselves which unit they are: those partitioned as they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.model.structure import TagStructure


@dataclass(frozen=True, slots=True)
class UnitTags:
    """Tags of fragments: those that are whole units, and those that may be inside of units.

    a fragment of a tag in `own`  →  belongs to the partition of its own id, whatever else arrives
    one of a tag in `inside`  →  to that of the unit which it names, if it names one
    """

    own: frozenset[int]
    inside: frozenset[int]


def unit_tags(structure: TagStructure) -> UnitTags | None:
    """The tags of units; None if that is not known before all fragments are."""
    if structure.open:
        return None
    units, seen, todo = set[int](), {structure.root}, [structure.root]
    while todo:
        for child in structure.tags[todo.pop()].children:
            if structure.travels(child):
                units.add(child)
            elif child not in seen:
                seen.add(child)
                todo.append(child)
    below = {child for unit in units for child in _inside(unit, structure)}
    inside = frozenset(filter(structure.travels, below))
    return UnitTags(frozenset(units) - inside, inside)


def _inside(unit: int, structure: TagStructure) -> set[int]:
    """The tags that may be inside a unit; the unit's own, if it may contain itself."""
    return {child for tag in structure.below(unit) for child in structure.tags[tag].children}
