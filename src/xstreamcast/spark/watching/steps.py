"""How many steps of Spark a query needs: one for each stage, if its streams are known beforehand.

Spark's plan is made before the first fragment comes, and a stream contains its own structure. Where
a file is there already, its structure is read ahead; otherwise a query has three stages, and what
needs more is in one place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from xstreamcast.algebra.analysis.timing import reached
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.inputs.unit_tags import unit_tags
from xstreamcast.circuit.node_sources import in_order
from xstreamcast.circuit.stages import stages_of, why_one_partition
from xstreamcast.edges.partitions.packing import NOT_ROOT, Parting
from xstreamcast.edges.partitions.route import why_at_all
from xstreamcast.edges.partitions.unit_keys import Inside
from xstreamcast.model.fragment import NewStructure
from xstreamcast.model.instant import START
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.watching.watch import Watch
from xstreamcast.spark.watching.checkpoint import write_whole

if TYPE_CHECKING:
    from xstreamcast.edges.ahead import Ahead
    from xstreamcast.edges.partitions.host import WatchRequest
    from xstreamcast.model.structure import TagStructure

Structures: TypeAlias = "Mapping[str, TagStructure | None]"
UNKNOWN: Final = 3  # units, what is partitioned by keys, and the answer
_MOST: Final = 5
_FILE: Final = "stages"


@dataclass(frozen=True, slots=True)
class StepPlan:
    """So many steps; and, if there is no router, what is partitioned as it is read.

    `tags`: of units, by stream; `inside`: of fragments that name the unit in which they are;
    `spread`: by query, the streams whose units are partitioned.
    """

    steps: int = UNKNOWN
    tags: Mapping[str, frozenset[int]] = field(default_factory=dict)
    spread: Mapping[str, frozenset[str]] | None = None  # None: a router finds where fragments go
    emits: bool = False  # items are made in partitions; only their order needs one place
    inside: Mapping[str, Inside] = field(default_factory=dict)

    def parting(self, partitions: int) -> Parting:
        """The options of sources."""
        if self.spread is None:
            return Parting()
        return Parting(partitions, self.tags, self.inside)

    def json(self) -> str:
        """As a checkpoint keeps it."""
        fields = {"steps": self.steps, "tags": _listed(self.tags), "emits": self.emits}
        fields["spread"] = None if self.spread is None else _listed(self.spread)
        inside = {name: [sorted(one.tags), one.root] for name, one in self.inside.items()}
        return json.dumps(fields | {"inside": inside})

    @staticmethod
    def of(text: str) -> StepPlan:
        fields = json.loads(text)
        if isinstance(fields, int):  # of a version that always had a router
            return StepPlan(fields)
        spread = None if fields["spread"] is None else _sets(fields["spread"])
        inside = {
            name: Inside(frozenset(tags), root)
            for name, (tags, root) in fields.get("inside", {}).items()
        }
        return StepPlan(fields["steps"], _sets(fields["tags"]), spread, fields["emits"], inside)


def _listed(found: Mapping[str, Collection[Any]]) -> dict[str, list[Any]]:
    return {name: sorted(own) for name, own in found.items()}


def _sets(found: Mapping[str, list[Any]]) -> dict[str, frozenset[Any]]:
    return {name: frozenset(own) for name, own in found.items()}


def planned_steps(
    requests: Mapping[str, WatchRequest], ahead: Callable[[], Mapping[str, Ahead]], folder: Path,
    mapped: frozenset[str] = frozenset(),
) -> StepPlan:  # fmt: skip
    """The steps of queries; those of a checkpoint stay what they were.

    `ahead`: of inputs that have said their structure, or will say it for certain; `mapped`: those
    of them in which all tags but the root's are units, whatever their numbers will be.
    """
    written = folder / _FILE
    if written.exists():
        return StepPlan.of(written.read_text())
    found = step_plan(requests, ahead(), mapped)
    write_whole(written, found.json() + "\n")
    return found


def step_plan(
    requests: Mapping[str, WatchRequest],
    ahead: Mapping[str, Ahead],
    mapped: frozenset[str] = frozenset(),
) -> StepPlan:
    """The steps of queries over streams of which this is known."""
    structures = {name: one.structure for name, one in ahead.items()}
    circuits = {name: _circuit(one, structures) for name, one in requests.items()}
    steps = max((_stages(requests[name], one) for name, one in circuits.items()), default=UNKNOWN)
    emits = all(_emits(requests[name], one) for name, one in circuits.items())
    spread: dict[str, frozenset[str]] = {}
    tags, inside = dict[str, frozenset[int]](), dict[str, Inside]()
    for name, circuit in circuits.items():
        if not isinstance(circuit, c.Circuit) or _why_routed(requests[name], circuit) is not None:
            return StepPlan(steps, emits=emits)
        nodes = in_order(circuit.root)
        spread[name] = frozenset(str(one.input) for one in nodes if isinstance(one, c.Units))
        for stream in spread[name]:
            structure = structures[stream]
            found = None if structure is None else unit_tags(structure)
            if structure is None or found is None:
                return StepPlan(steps, emits=emits)
            if found.inside and not ahead[stream].names_units:
                return StepPlan(steps, emits=emits)
            tags[stream] = NOT_ROOT if stream in mapped else found.own
            if found.inside:
                inside[stream] = Inside(found.inside, structure.root)
    return StepPlan(steps, tags, spread, emits, inside)


def _emits(request: WatchRequest, circuit: c.Circuit | str | None) -> bool:
    """Whether items of the answer are made in partitions."""
    if not isinstance(circuit, c.Circuit) or _reaches(request):
        return False
    if why_one_partition(circuit, request.policy == "strict") is not None:
        return False
    return any(port.rendered for port in stages_of(circuit, _MOST).ports)


def _reaches(request: WatchRequest) -> bool:
    """Whether a projection may end after now: such a query may have to turn to one place."""
    return any(reached(one) > START for one in request.programs.values())


def _why_routed(request: WatchRequest, circuit: c.Circuit) -> str | None:
    """Why fragments are not partitioned as they are read, whatever their tags are."""
    if request.lateness is not None or request.skew is not None:
        return "whether a fragment is late is decided where all of the stream is read"
    if _reaches(request):
        return "once something is planned, a projection that may see it is in one place"
    return why_one_partition(circuit, request.policy == "strict")


def _circuit(request: WatchRequest, structures: Structures) -> c.Circuit | str | None:
    """The circuit of a query; why it has none that is partitioned; None: it is not known yet."""
    if (why := why_at_all(request)) is not None:
        return why
    (program,) = request.programs.values()
    plan = Watch(
        program, request.kinds, variables=request.variables, policy=request.policy, shallow=True
    )
    for name in request.kinds:
        structure = structures.get(str(name))
        if structure is None:
            return None
        plan.on_arrivals(str(name), [NewStructure(structure)])
    return plan.pipeline.circuit if isinstance(plan.pipeline, CircuitRun) else "it has no circuit"


def _stages(request: WatchRequest, circuit: c.Circuit | str | None) -> int:
    match circuit:
        case None:
            return UNKNOWN
        case str():
            return 2
    if why_one_partition(circuit, request.policy == "strict") is not None:
        return 2
    return min(len(stages_of(circuit)), _MOST)
