"""How deep documents are cut: as deep as the circuit stays the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from xstreamcast.algebra.analysis.cut import Cut, DepthCut, Guard
from xstreamcast.algebra.program import Program
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.compile import circuit_of
from xstreamcast.circuit.inputs.pieces import in_pieces, runs_growing
from xstreamcast.circuit.passes.growing import appended
from xstreamcast.circuit.passes.top_n import with_limits
from xstreamcast.circuit.passes.top_values import with_top_values
from xstreamcast.circuit.show.operators import show_circuit

DEEPEST_CUT: Final = 6
Levels: TypeAlias = Mapping[str | None, list[tuple[int, tuple[Guard, ...]]]]


def deepest_circuit(
    program: Program, cuts: Mapping[str | None, Cut], documents: frozenset[str | None],
    grown: frozenset[str | None] = frozenset(), once: frozenset[str | None] = frozenset(),
) -> tuple[c.Circuit, Levels]:  # fmt: skip
    """The circuit, and for each document the levels at which it may be cut, with their guards.

    `grown` are answers that only grow, or that come as a whole before all else; units of inputs in
    `once` are dropped after each tick.
    """
    if documents and not cuts:
        circuit, levels = _deepest(program, cuts, documents, growing=True)
        if runs_growing(circuit):
            return circuit, levels
    circuit, levels = _deepest(program, cuts, documents, growing=False)
    if grown:
        circuit = with_limits(appended(circuit, documents | grown, once))
    return circuit, levels


def _deepest(
    program: Program, cuts: Mapping[str | None, Cut], documents: frozenset[str | None],
    growing: bool,
) -> tuple[c.Circuit, Levels]:  # fmt: skip
    best, deeper = circuits_by_depth(program, cuts, documents, growing)
    levels = {
        name: [(depth - 1, _guards(one, name)) for depth, one in deeper] for name in documents
    }
    limited = with_limits(appended(best, documents))
    return in_pieces(with_top_values(limited, program), documents), levels


def circuits_by_depth(
    program: Program, cuts: Mapping[str | None, Cut], documents: frozenset[str | None],
    growing: bool, batch: bool = False,
) -> tuple[c.Circuit, list[tuple[int, c.Circuit]]]:  # fmt: skip
    """The circuit over the deepest units that need no guards; depths that do, with theirs."""
    depths = range(2, (DEEPEST_CUT if documents else 2) + 1)
    tried = [
        (depth, circuit_of(program, {**cuts, **_at_depth(depth, documents)}, growing, batch))
        for depth in depths
    ]
    same = [one for one in tried if _form(one[1]) == _form(tried[0][1])]
    free = [one for one in same if not one[1].guards]
    best = free[-1] if free else same[0]
    return best[1], [one for one in same if one[0] >= best[0]]


def _at_depth(depth: int, documents: frozenset[str | None]) -> dict[str | None, Cut]:
    return {name: DepthCut(depth) for name in documents}


def _form(circuit: c.Circuit) -> object:
    return show_circuit(circuit), circuit.whole


def _guards(circuit: c.Circuit, name: str | None) -> tuple[Guard, ...]:
    return tuple(sorted((guard for one, guard in circuit.guards if one == name), key=str))
