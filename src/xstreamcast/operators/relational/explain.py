"""How a query is kept up to date: the circuit that will run, or why another way is taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xstreamcast.algebra.cut import Cut, TagCut
from xstreamcast.algebra.split import inputs_of
from xstreamcast.circuit.documents import deepest_circuit
from xstreamcast.circuit.show import show_circuit
from xstreamcast.operators.explain import explain_operators
from xstreamcast.operators.relational.choice import worth_a_circuit

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.circuit.nodes import Circuit
    from xstreamcast.model.structure import TagStructure


def explain_circuit(
    program: Program, structures: Mapping[str, TagStructure] | None = None, strict: bool = False
) -> str:
    """The operators of the local runner; inputs without a tag structure count as documents."""
    known = structures or {}
    cuts: dict[str | None, Cut] = {name: TagCut(tags) for name, tags in known.items()}
    documents = inputs_of(program) - set(known)
    units = "evaluated unit by unit, without a circuit\n\n" + explain_operators(program, structures)
    circuit, _ = deepest_circuit(program, cuts, documents)
    if not worth_a_circuit(program, circuit, cuts, documents):
        return units
    if circuit.whole:
        return "\n".join([*_reasons(program, circuit), "", explain_operators(program, structures)])
    return show_circuit(circuit, facts=True)


def _reasons(program: Program, circuit: Circuit) -> list[str]:
    """Why a part of the query has no incremental operator."""
    found = []
    for sentence, span in circuit.reasons:
        at = program.source.place(span) if span != (0, 0) else None
        found.append(f"no circuit: {sentence}" + (f" ({at})" if at is not None else ""))
    return found
