"""What the first bytes of a stream show, before anything of it is decoded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.circuit.inputs.unit_tags import unit_tags
from xstreamcast.edges.inputs import opened, paths
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.model.fragment import FragmentBatch
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xstreamcast.model.fragment import Arrival
    from xstreamcast.model.structure import TagStructure

_AHEAD: Final = 1 << 20  # a structure must be within these bytes of a file


@dataclass(frozen=True, slots=True)
class Ahead:
    """The structure of a stream, if it is known, and whether its fragments name their units."""

    structure: TagStructure | None = None
    names_units: bool = False


def ahead_of(name: str, source: str | os.PathLike[str]) -> Ahead:
    """What the first file of an input begins with."""
    if os.path.isdir(source) and not os.listdir(source):
        return Ahead()  # it may fill later
    for path in paths(os.path.abspath(source)):
        with opened(path) as file:
            head = file.read(_AHEAD)
        if head.strip():
            decoder = Decoder(name, on_error="quarantine")
            arrived = decoder.feed(head)
            return Ahead(decoder.structure, name_units(decoder.structure, arrived))
    return Ahead()


def name_units(structure: TagStructure | None, arrived: Iterable[Arrival]) -> bool:
    """Whether fragments inside of units name their units: some, and all that hold others."""
    tags = None if structure is None else unit_tags(structure)
    batches = [one for one in arrived if isinstance(one, FragmentBatch)]
    if tags is None or not any(one.unit is not None for one in batches):
        return False
    return all(_holders_do(one, sorted(tags.inside)) for one in batches)


def _holders_do(batch: FragmentBatch, inside: Sequence[int]) -> bool:
    holders = np.unique(batch.hole_fragment)
    holders = holders[np.isin(batch.tsid[holders], inside)]
    return len(holders) == 0 or (batch.unit is not None and bool((batch.unit[holders] >= 0).all()))
