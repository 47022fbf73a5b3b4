"""What of a stream is kept for a query and for how long, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from xstreamcast.algebra.forgetting import kept

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.structure import TagStructure


def forgets(program: Program, name: str, structure: TagStructure) -> Iterator[str]:
    """What is not kept of a stream, or why all is."""
    found = kept(program, name, structure)
    travelling = frozenset(tag for tag in structure.tags if structure.travels(tag))
    dropped = travelling - found.tags
    if found.why is not None:
        yield f"  forgets: nothing, because {found.why}"
        return
    if dropped:
        yield f"  drops on arrival: fragments of {_named(structure, dropped)}"
    for tag in sorted(found.thin):
        seen = sorted(local for _, local in found.thin[tag])
        inner = f"{', '.join(seen)} and " if seen else ""
        yield f"  keeps of {structure[tag].name}: its attributes, {inner}what fills its holes"
    if found.current:
        names = _named(structure, found.current)
        yield f"  keeps of {names}: the version that holds now, and those that are planned"
    late = [tag for tag in found.tags - found.current if structure[tag].type == "temporal"]
    if late:
        yield f"  keeps for ever: versions of {_named(structure, late)}; a late one may need them"
    yield f"  if {_named(structure, found.tags)} are immutable: units that are not complete yet"


def _named(structure: TagStructure, tags: Iterable[int]) -> str:
    return ", ".join(dict.fromkeys(structure[tag].name for tag in sorted(tags)))
