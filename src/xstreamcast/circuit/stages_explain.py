"""How a continuous query is partitioned, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from xstreamcast.algebra.cut import Cut, TagCut
from xstreamcast.algebra.split import inputs_of
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.documents import deepest_circuit
from xstreamcast.circuit.show import show_nodes
from xstreamcast.circuit.stages import stages_of, why_one_partition

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.structure import TagStructure


def explain_stages(
    program: Program, structures: Mapping[str, TagStructure], strict: bool = False
) -> str:
    """The stages of a query and what each is partitioned by; or why it is in one partition."""
    documents = inputs_of(program) - set(structures)
    if documents:
        return in_one_partition("it reads documents")
    cuts: dict[str | None, Cut] = {name: TagCut(tags) for name, tags in structures.items()}
    circuit, _ = deepest_circuit(program, cuts, frozenset())
    why = why_one_partition(circuit, strict)
    return "\n".join(_stages(circuit)) if why is None else in_one_partition(why)


def in_one_partition(why: str) -> str:
    """All operators run in one partition."""
    return f"in one partition, however many there are\n  why: {why}"


def _stages(circuit: c.Circuit) -> Iterator[str]:
    stages = stages_of(circuit)
    names = sorted(str(n.input) for n in stages.units if isinstance(n, c.Units))
    streams = ", ".join(f'stream("{name}")' for name in names)
    yield "router, in one place: finds the unit of each fragment, and keeps the clock"
    yield f"stage 1, partitioned by unit of {streams}"
    yield "  every partition also reads the roots, tag structures, the clock and ends of inputs"
    yield from (f"  {line}" for line in show_nodes(stages.units))
    if isinstance(circuit.root, c.Units):
        yield "  items of each unit"
        yield "stage 2, in one place: puts the items in the order of units, and emits changes"
        return
    yield "stage 2, in one place"
    yield from (f"  {line}" for line in show_nodes(stages.answer))
    yield "  emit"
