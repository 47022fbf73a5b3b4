"""How a query is kept up to date: the circuit that runs, operator by operator."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from xstreamcast.algebra.analysis.cut import Cut, DepthCut, TagCut
from xstreamcast.algebra.analysis.inputs import inputs_of
from xstreamcast.circuit.inputs.grown import only_grows
from xstreamcast.circuit.inputs.passed_tags import passing
from xstreamcast.circuit.inputs.transient import by_columns, transient
from xstreamcast.circuit.show.operators import show_circuit
from xstreamcast.circuit.show.partitions import partitioned_by
from xstreamcast.operators.forgetting.explain import forgets
from xstreamcast.operators.watching.plans import planned

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.circuit.nodes import Circuit
    from xstreamcast.model.structure import TagStructure


def explain_circuit(
    program: Program,
    structures: Mapping[str, TagStructure] | None = None,
    queries: frozenset[str] = frozenset(),
    once: frozenset[str | None] = frozenset(),
    grown: frozenset[str | None] = frozenset(),
) -> str:
    """The operators of the local runner; inputs without a tag structure count as documents.

    `queries` are other queries, whose answers may be inputs; those in `once` are read once, and
    those in `grown` only grow.
    """
    known = structures or {}
    answers = inputs_of(program) & queries
    documents = inputs_of(program) - set(known) - answers
    cuts: dict[str | None, Cut] = {name: TagCut(tags) for name, tags in known.items()}
    cuts |= dict.fromkeys(answers, DepthCut(2))
    plan = planned(
        program, passing(program, cuts, documents), documents, True, grown & answers, once
    )  # fmt: skip
    gone = (transient(plan.circuit, once) if once else None) or frozenset()
    together = by_columns(plan.circuit, gone)
    by = {} if documents or answers else partitioned_by(plan.circuit)
    shown = show_circuit(plan.circuit, True, gone, together, by)
    lines = [shown, *_reasons(program, plan.circuit)]
    for name, structure in sorted(known.items()):
        lines += [f'stream("{name}")', *forgets(program, name, structure)]
    return "\n".join(lines)


def grown_answers(
    programs: Mapping[str, Program],
    streams: Collection[str | None],
    once: Collection[tuple[str, str]],
) -> frozenset[str | None]:
    """The queries whose answers only grow; `streams` are inputs of fragments, and `once` pairs of a
    query and a stream that it reads once.
    """
    found: set[str | None] = set()
    for name, program in programs.items():
        read = inputs_of(program)
        if read & set(streams):
            continue
        answers = read & programs.keys()
        cuts: dict[str | None, Cut] = dict.fromkeys(answers, DepthCut(2))
        dropped = frozenset[str | None](stream for reader, stream in once if reader == name)
        grown = frozenset(found & answers)
        plan = planned(program, cuts, read - answers, True, grown, dropped)
        if only_grows(plan.circuit, dropped):
            found.add(name)
    return frozenset(found)


def _reasons(program: Program, circuit: Circuit) -> list[str]:
    """Why a part of the query has no incremental operator."""
    found = []
    for sentence, span in circuit.reasons:
        at = program.source.place(span) if span != (0, 0) else None
        found.append(f"recomputed: {sentence}" + (f" ({at})" if at is not None else ""))
    return found
