"""Which queries run as circuits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xstreamcast.algebra.cut import Cut
from xstreamcast.algebra.division import Listed
from xstreamcast.algebra.split import deepest
from xstreamcast.algebra.windowed import Windowed
from xstreamcast.circuit import nodes as c

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program


def worth_a_circuit(
    program: Program,
    circuit: c.Circuit,
    cuts: Mapping[str | None, Cut],
    documents: frozenset[str | None],
) -> bool:
    """Whether a query runs as a circuit: joins and windows over documents, which never change,
    have operators of their own that keep less.
    """
    units = [node for node in c.in_order(circuit.root) if isinstance(node, c.Units)]
    if not documents or (units and all(node.pieces for node in units)):
        return True
    division = deepest(program, cuts, documents)
    read = {name for one in division.parts for name in (*one.inputs, *one.others)}
    if not read & documents:
        return True
    return not all(isinstance(one.shape, Listed | Windowed) for one in division.parts)
