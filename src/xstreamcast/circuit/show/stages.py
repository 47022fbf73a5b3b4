"""How a continuous query is partitioned, for people."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from xstreamcast.algebra.analysis.cut import Cut, TagCut
from xstreamcast.algebra.analysis.inputs import inputs_of
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.inputs.documents import deepest_circuit
from xstreamcast.circuit.inputs.unit_tags import unit_tags
from xstreamcast.circuit.node_sources import in_order
from xstreamcast.circuit.show.operators import show_nodes
from xstreamcast.circuit.stages import ONE, Stages, stages_of, why_one_partition

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.structure import TagStructure

_BY: Final = {
    "key": "the row that others are nested in",
    "name": "the keys of the group",
    "values": "the values of the join",
}


def explain_stages(
    program: Program, structures: Mapping[str, TagStructure], strict: bool = False,
    most: int | None = None, keyed: Collection[str] = (),
) -> str:  # fmt: skip
    """The stages of a query and what each is partitioned by; or why it is in one partition.

    `keyed`: the streams whose fragments name the units that they are in.
    """
    documents = inputs_of(program) - set(structures)
    if documents:
        return in_one_partition("it reads documents")
    cuts: dict[str | None, Cut] = {name: TagCut(tags) for name, tags in structures.items()}
    circuit, _ = deepest_circuit(program, cuts, frozenset())
    why = why_one_partition(circuit, strict)
    if why is not None:
        return in_one_partition(why)
    return "\n".join((*_router(circuit, structures, keyed), *_stages(circuit, most)))


def in_one_partition(why: str) -> str:
    """All operators run in one partition."""
    return f"in one partition, however many there are\n  why: {why}"


def _router(
    circuit: c.Circuit, structures: Mapping[str, TagStructure], keyed: Collection[str]
) -> Iterator[str]:
    """Whether fragments say by themselves which unit they are, and what is kept if not."""
    deep = [name for name in _streams(circuit) if _is_deep(structures[name])]
    if not deep:
        yield "no router: fragments are partitioned by their ids as they are read"
        return
    if set(deep) <= set(keyed):
        yield "no router: fragments are partitioned as they are read, by their ids, or by the unit"
        yield f"  that they name (attribute unit), inside the units of {_named(deep)}"
        yield "  keeps: the unit of each id, in the partition of the id, to detect contradictions"
        return
    yield "router, in one place: finds the unit of each fragment"
    yield f"  why: fragments are inside the units of {_named(deep)}, and do not name their units"
    yield "  (attribute unit, which `fragment` writes) where the stream begins"
    yield "  keeps: links (the holes of each fragment, the partitions of each id), and the clock"
    yield (
        "  in the state store: the input, read again if a fragment moves to a unit of another "
        "partition"
    )


def _is_deep(structure: TagStructure) -> bool:
    """Whether fragments may be inside of units."""
    tags = unit_tags(structure)
    return tags is None or bool(tags.inside)


def _streams(circuit: c.Circuit) -> list[str]:
    """The streams whose units are partitioned."""
    nodes = in_order(circuit.root)
    return sorted({str(one.input) for one in nodes if isinstance(one, c.Units)})


def _named(streams: list[str]) -> str:
    return ", ".join(f'stream("{name}")' for name in streams)


def _stages(circuit: c.Circuit, most: int | None) -> Iterator[str]:
    stages = stages_of(circuit, most)
    yield f"stage 1, partitioned by unit of {_named(_streams(circuit))}"
    yield "  every partition also reads the roots, tag structures, the clock and ends of inputs"
    yield from _nodes(stages, 0)
    for number in range(1, len(stages)):
        yield from _later(circuit, stages, number)


def _later(circuit: c.Circuit, stages: Stages, number: int) -> Iterator[str]:
    if any(port.rendered and port.last == number for port in stages.ports):
        yield "  items of each row; emitted here, with their ranks, if updates are requested"
        yield (
            f"stage {number + 1}, in one place: puts the items in the order of the answer, and "
            "emits changes; there is none for updates"
        )
        return
    alone = [node for node in stages.nodes[number] if stages.places[id(node)] == ONE]
    if len(alone) == len(stages.nodes[number]):
        yield f"stage {number + 1}, in one place: {_why(alone)}"
    else:
        yield f"stage {number + 1}, partitioned by {_by(stages, number)}"
        sent = [p.source for p in stages.ports if p.last == number and p.route == "all"]
        yield from (f"  every partition reads all of: {line}" for line in show_nodes(sent))
    yield from _nodes(stages, number)
    if number == len(stages) - 1:
        yield "  emit"


def _nodes(stages: Stages, number: int) -> Iterator[str]:
    nodes = stages.nodes[number]
    mixed = len({stages.places[id(node)] == ONE for node in nodes}) > 1
    for node, line in zip(nodes, show_nodes(nodes), strict=True):
        alone = mixed and stages.places[id(node)] == ONE
        yield f"  {line}" + (f"  (in one place: {_why([node])})" if alone else "")


def _by(stages: Stages, number: int) -> str:
    routes = {port.route for port in stages.ports if port.last == number}
    found = [said for route, said in _BY.items() if route in routes]
    return ", ".join(found) or "the previous partitioning of the rows"


def _why(nodes: list[c.Node]) -> str:
    """Why operators see all rows."""
    for node in nodes:
        match node:
            case c.Order():
                return "it sorts all rows"
            case c.Slice() | c.Pick() | c.Number():
                return "positions count over all rows"
            case c.Window():
                return "windows reach over all rows"
            case c.Nest():
                return "a value is computed from all rows"
            case c.Group() | c.Join() | c.IntervalJoin() | c.BandJoin() | c.RangeFold() | c.Union():
                return "its rows are in one place already, or it is the last stage there is"
            case _:
                pass
    return "it is evaluated once"
