"""How many steps of Spark a query needs: one for each stage, if its streams are known beforehand.

Spark's plan is made before the first fragment comes, and a stream says its structure itself. Where
a file is there already, its structure is read ahead; otherwise a query has three stages, and what
needs more is in one place.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.circuit.stages import stages_of, why_one_partition
from xstreamcast.edges.inputs import opened, paths
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.model.fragment import Described
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.watch import Watch
from xstreamcast.spark.watching.checkpoint import write_whole
from xstreamcast.spark.watching.route import why_at_all

if TYPE_CHECKING:
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.spark.watching.host import Asked

UNKNOWN: Final = 3  # units, what is partitioned by keys, and the answer
_MOST: Final = 5
_AHEAD: Final = 1 << 20  # bytes of a file in which its structure must stand
_FILE: Final = "stages"


def steps_of(asked: Mapping[str, Asked], places: Mapping[str | None, Any], folder: Path) -> int:
    """The number of steps; that of a checkpoint stays what it was.

    `places`: where the fragments of inputs are read from, if they are in files.
    """
    written = folder / _FILE
    if written.exists():
        return int(written.read_text())
    structures = {str(name): structure_ahead(str(name), one) for name, one in places.items()}
    found = max((_stages(one, structures) for one in asked.values()), default=UNKNOWN)
    write_whole(written, f"{found}\n")
    return found


def _stages(asked: Asked, structures: Mapping[str, TagStructure | None]) -> int:
    if why_at_all(asked) is not None:
        return 2
    (program,) = asked.programs.values()
    plan = Watch(program, asked.kinds, variables=asked.variables, policy=asked.policy, shallow=True)
    for name in asked.kinds:
        structure = structures.get(str(name))
        if structure is None:
            return UNKNOWN
        plan.on_arrivals(str(name), [Described(structure)])
    if not isinstance(plan.pipeline, CircuitRun):
        return 2
    circuit = plan.pipeline.circuit
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
