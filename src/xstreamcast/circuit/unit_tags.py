"""Which fragments say by themselves which unit they are: those partitioned as they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xstreamcast.model.structure import TagStructure


def unit_tags(structure: TagStructure) -> frozenset[int] | None:
    """The tags whose fragments are whole units; None if fragments stand in other units.

    a fragment of such a tag  →  belongs to the partition of its own id, whatever else arrives
    """
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
    if any(structure.travels(child) for unit in units for child in _inside(unit, structure)):
        return None
    return frozenset(units)


def _inside(unit: int, structure: TagStructure) -> set[int]:
    """The tags that may stand inside a unit; the unit's own, if it may contain itself."""
    return {child for tag in structure.below(unit) for child in structure.tags[tag].children}
