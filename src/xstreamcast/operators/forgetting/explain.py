"""What of a stream is kept for a query and for how long, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from xstreamcast.algebra.analysis.forgetting import kept
from xstreamcast.model.instant import SECOND

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
    for tag, back in sorted(found.recent.items()):
        since = "now" if back == 0 else f"{back / SECOND:g} s before now"
        yield f"  keeps of {structure[tag].name}: what has not ended by {since}"
    late = [t for t in found.tags - set(found.recent) if structure[t].type == "temporal"]
    if late:
        yield f"  keeps for ever: versions of {_named(structure, late)}; a late one may need them"
    yield f"  if {_named(structure, found.tags)} are immutable: units that are not complete yet"


def _named(structure: TagStructure, tags: Iterable[int]) -> str:
    return ", ".join(dict.fromkeys(structure[tag].name for tag in sorted(tags)))
