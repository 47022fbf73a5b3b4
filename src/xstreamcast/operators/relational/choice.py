"""Which queries run as circuits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xstreamcast.algebra.cut import Cut, DepthCut
from xstreamcast.algebra.division import Listed
from xstreamcast.algebra.split import deepest
from xstreamcast.algebra.windowed import Windowed

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program


def worth_a_circuit(
    program: Program, cuts: Mapping[str | None, Cut], documents: frozenset[str | None]
) -> bool:
    """Whether more than one thing is done with units: what each gives by itself needs none."""
    division = deepest(program, cuts, documents)
    if not division.parts:
        return True
    part = division.parts[0]
    document = isinstance(division.cuts[part.input], DepthCut)
    if division.plain and isinstance(part.shape, Listed) and part.fold == "items":
        return bool(part.probes or part.others or part.numbered)
    if document and all(isinstance(one.shape, Listed | Windowed) for one in division.parts):
        return any(one.probes or one.others for one in division.parts)
    return True
