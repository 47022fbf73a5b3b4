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
    program: Program,
    cuts: Mapping[str | None, Cut],
    documents: frozenset[str | None],
    strict: bool,
) -> bool:
    """Whether more than one thing is done with units: what each gives by itself needs none.

    Units of documents never change, so that little need be kept of them; and strict answers leave
    unit by unit: both have operators of their own.
    """
    division = deepest(program, cuts, documents)
    if not division.parts:
        return True
    part = division.parts[0]
    alone = strict or not (part.probes or part.others or part.numbered)
    if division.plain and isinstance(part.shape, Listed) and part.fold == "items" and alone:
        return False
    read = {name for one in division.parts for name in (*one.inputs, *one.others)}
    if any(isinstance(division.cuts.get(name), DepthCut) for name in read):
        return not all(isinstance(one.shape, Listed | Windowed) for one in division.parts)
    return True
