"""What of a stream a query can never see, and so need not be kept.

a history without these fragments  →  the same answers

It follows from what the tag structure tells; whoever leaves something out must see that it holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.guide import Guide, structured
from xstreamcast.algebra.needs import needs_of
from xstreamcast.algebra.split import inlined
from xstreamcast.algebra.walk import descendants
from xstreamcast.functions.signature import FN

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.structure import TagStructure

_OPENING: Final = frozenset({"doc", "doc-available", "collection", "uri-collection"})


@dataclass(frozen=True, slots=True)
class Kept:
    """Tags of a stream whose fragments a query sees, or passes on the way to what it sees.

    `why` says why nothing can be left out, if it is so.
    """

    tags: frozenset[int]
    guide: Guide
    why: str | None = None


def kept(program: Program, name: str, structure: TagStructure, guide: Guide | None = None) -> Kept:
    """The tags of a stream that a program needs; `guide` says more than the structure, if given."""
    known = structured(structure) if guide is None else guide
    every = frozenset(known.name)
    if structure.open:
        return Kept(every, known, "its structure does not say which tags travel")
    asked = replace(program, body=inlined(program))
    if any(map(_opens, _plans(asked))):
        return Kept(every, known, "a document is opened by a name that is computed")
    needs = needs_of(asked, {name: known})[name]
    if needs.all is not None:
        return Kept(every, known, needs.all)
    read = needs.read(known)
    # whatever stands above must be there to say what stands below it
    tags = (read | known.above(read) | known.roots) & every
    return Kept(tags, known)


def _plans(program: Program) -> list[p.Plan]:
    values = [v.value for v in program.variables if v.value is not None]
    return [program.body, *values, *(f.body for f in program.functions)]


def _opens(plan: p.Plan) -> bool:
    """Whether a plan calls fn:doc and its like, which may give a stream by its name."""
    return any(
        isinstance(node, p.Call | p.FunctionRef)
        and node.function.uri == FN
        and node.function.local in _OPENING
        for node in descendants(plan)
    )
