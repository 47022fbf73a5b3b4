"""Which queries run as circuits: all but joins and windows over documents alone.

Units of documents never change, so that operators of their own keep less of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xstreamcast.algebra.cut import Cut
from xstreamcast.algebra.division import Division, Listed, Part
from xstreamcast.algebra.split import deepest
from xstreamcast.algebra.windowed import Windowed
from xstreamcast.circuit import nodes as c

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program


def division_of_documents(
    program: Program,
    circuit: c.Circuit,
    cuts: Mapping[str | None, Cut],
    documents: frozenset[str | None],
) -> Division | None:
    """The division of a query over documents that has such operators; None: it is a circuit."""
    units = [node for node in c.in_order(circuit.root) if isinstance(node, c.Units)]
    others = {*circuit.sources, *cuts} - documents
    if not documents or others or (units and all(node.pieces for node in units)):
        return None
    division = deepest(program, cuts, documents)
    fits = [_has_operator(part, division) for part in division.parts]
    return division if fits and all(fits) else None


def _has_operator(part: Part, division: Division) -> bool:
    if isinstance(part.shape, Windowed) or part.around is not None:
        return True
    joined = bool(part.probes) and part.numbered is None
    return joined and isinstance(part.shape, Listed) and division.plain and part.fold == "items"
