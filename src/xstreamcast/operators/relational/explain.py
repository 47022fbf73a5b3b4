"""How a query is kept up to date: the circuit that runs, operator by operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xstreamcast.algebra.analysis.cut import Cut, TagCut
from xstreamcast.algebra.analysis.inputs import inputs_of
from xstreamcast.circuit.inputs.passed_tags import passing
from xstreamcast.circuit.show.operators import show_circuit
from xstreamcast.operators.forgetting.explain import forgets
from xstreamcast.operators.watching.plans import planned

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.circuit.nodes import Circuit
    from xstreamcast.model.structure import TagStructure


def explain_circuit(program: Program, structures: Mapping[str, TagStructure] | None = None) -> str:
    """The operators of the local runner; inputs without a tag structure count as documents."""
    known = structures or {}
    documents = inputs_of(program) - set(known)
    cuts: Mapping[str | None, Cut] = {name: TagCut(tags) for name, tags in known.items()}
    plan = planned(program, passing(program, cuts, documents), documents, inner=True)
    lines = [show_circuit(plan.circuit, facts=True), *_reasons(program, plan.circuit)]
    for name, structure in sorted(known.items()):
        lines += [f'stream("{name}")', *forgets(program, name, structure)]
    return "\n".join(lines)


def _reasons(program: Program, circuit: Circuit) -> list[str]:
    """Why a part of the query has no incremental operator."""
    found = []
    for sentence, span in circuit.reasons:
        at = program.source.place(span) if span != (0, 0) else None
        found.append(f"recomputed: {sentence}" + (f" ({at})" if at is not None else ""))
    return found
