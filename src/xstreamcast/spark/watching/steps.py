"""How many steps of Spark a query needs: one for each stage, if its streams are known beforehand.

Spark's plan is made before the first fragment comes, and a stream says its structure itself. Where
a file is there already, its structure is read ahead; otherwise a query has three stages, and what
needs more is in one place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.stages import stages_of, why_one_partition
from xstreamcast.circuit.unit_tags import unit_tags
from xstreamcast.edges.inputs import opened, paths
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.model.fragment import Described
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.watch import Watch
from xstreamcast.spark.watching.checkpoint import write_whole
from xstreamcast.spark.watching.packing import NOT_ROOT, Parting
from xstreamcast.spark.watching.route import why_at_all

if TYPE_CHECKING:
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.spark.watching.host import Asked

Structures: TypeAlias = "Mapping[str, TagStructure | None]"
UNKNOWN: Final = 3  # units, what is partitioned by keys, and the answer
_MOST: Final = 5
_AHEAD: Final = 1 << 20  # bytes of a file in which its structure must stand
_FILE: Final = "stages"


@dataclass(frozen=True, slots=True)
class StepPlan:
    """So many steps; and, if there is no router, what is partitioned as it is read.

    `tags`: of units, by stream; `spread`: by query, the streams whose units are partitioned.
    """

    steps: int = UNKNOWN
    tags: Mapping[str, frozenset[int]] = field(default_factory=dict)
    spread: Mapping[str, frozenset[str]] | None = None  # None: a router finds where fragments go
    emits: bool = False  # items are made in partitions; only their order needs one place

    def parting(self, partitions: int) -> Parting:
        """What sources are told."""
        return Parting() if self.spread is None else Parting(partitions, self.tags)

    def json(self) -> str:
        """As a checkpoint keeps it."""
        tags = {name: sorted(own) for name, own in self.tags.items()}
        spread = {name: sorted(own) for name, own in (self.spread or {}).items()}
        routed = self.spread is None
        told = {"steps": self.steps, "tags": tags, "spread": None if routed else spread}
        return json.dumps(told | {"emits": self.emits})

    @staticmethod
    def of(text: str) -> StepPlan:
        told = json.loads(text)
        if isinstance(told, int):  # of a version that always had a router
            return StepPlan(told)
        tags = {name: frozenset(own) for name, own in told["tags"].items()}
        spread = told["spread"] and {name: frozenset(own) for name, own in told["spread"].items()}
        return StepPlan(told["steps"], tags, spread, told["emits"])


def planned_steps(
    asked: Mapping[str, Asked], structures: Callable[[], Structures], folder: Path,
    mapped: frozenset[str] = frozenset(),
) -> StepPlan:  # fmt: skip
    """The steps of queries; those of a checkpoint stay what they were.

    `structures`: of inputs that have said theirs, or will say it for certain; `mapped`: those of
    them in which all tags but the root's are units, whatever their numbers will be.
    """
    written = folder / _FILE
    if written.exists():
        return StepPlan.of(written.read_text())
    found = step_plan(asked, structures(), mapped)
    write_whole(written, found.json() + "\n")
    return found


def step_plan(
    asked: Mapping[str, Asked], structures: Structures, mapped: frozenset[str] = frozenset()
) -> StepPlan:
    """The steps of queries over streams of which these structures are known."""
    circuits = {name: _circuit(one, structures) for name, one in asked.items()}
    steps = max((_stages(asked[name], one) for name, one in circuits.items()), default=UNKNOWN)
    emits = all(_emits(asked[name], one) for name, one in circuits.items())
    spread: dict[str, frozenset[str]] = {}
    tags: dict[str, frozenset[int]] = {}
    for name, circuit in circuits.items():
        if not isinstance(circuit, c.Circuit) or _why_routed(asked[name], circuit) is not None:
            return StepPlan(steps, emits=emits)
        nodes = c.in_order(circuit.root)
        spread[name] = frozenset(str(one.input) for one in nodes if isinstance(one, c.Units))
        for stream in spread[name]:
            structure = structures[stream]
            own = None if structure is None else unit_tags(structure)
            if own is None:
                return StepPlan(steps, emits=emits)
            tags[stream] = NOT_ROOT if stream in mapped else own
    return StepPlan(steps, tags, spread, emits)


def _emits(asked: Asked, circuit: c.Circuit | str | None) -> bool:
    """Whether items of the answer are made in partitions."""
    if not isinstance(circuit, c.Circuit):
        return False
    if why_one_partition(circuit, asked.policy == "strict") is not None:
        return False
    return any(port.rendered for port in stages_of(circuit, _MOST).ports)


def _why_routed(asked: Asked, circuit: c.Circuit) -> str | None:
    """Why fragments are not partitioned as they are read, whatever their tags are."""
    if asked.lateness is not None or asked.skew is not None:
        return "what is late is judged where all of the stream is seen"
    return why_one_partition(circuit, asked.policy == "strict")


def _circuit(asked: Asked, structures: Structures) -> c.Circuit | str | None:
    """The circuit of a query; why it has none that is partitioned; None: it is not known yet."""
    if (why := why_at_all(asked)) is not None:
        return why
    (program,) = asked.programs.values()
    plan = Watch(program, asked.kinds, variables=asked.variables, policy=asked.policy, shallow=True)
    for name in asked.kinds:
        structure = structures.get(str(name))
        if structure is None:
            return None
        plan.on_arrivals(str(name), [Described(structure)])
    return plan.pipeline.circuit if isinstance(plan.pipeline, CircuitRun) else "it has no circuit"


def _stages(asked: Asked, circuit: c.Circuit | str | None) -> int:
    match circuit:
        case None:
            return UNKNOWN
        case str():
            return 2
    if why_one_partition(circuit, asked.policy == "strict") is not None:
        return 2
    return min(len(stages_of(circuit)), _MOST)


def structure_ahead(name: str, source: str | os.PathLike[str]) -> TagStructure | None:
    """The structure that the first file of an input begins with, if there is one."""
    if os.path.isdir(source) and not os.listdir(source):
        return None  # it may fill later
    for path in paths(os.path.abspath(source)):
        with opened(path) as file:
            head = file.read(_AHEAD)
        if head.strip():
            decoder = Decoder(name, on_error="quarantine")
            decoder.feed(head)
            return decoder.structure
    return None
