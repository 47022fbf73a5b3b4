"""A mapping that finds nothing in the messages of a feed: what it looks for, and what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.decoder import MappingDecoder


def unfit(decoder: MappingDecoder) -> str | None:
    """A sentence, if messages came and none has anything that the mapping looks for."""
    counts, mapping = decoder.counts, decoder.mapping
    if not counts.read or counts.units or counts.removals or counts.refused or not decoder.root:
        return None
    units = ", ".join(f"{one.name} at {one.path}" for one in mapping.units)
    return (
        f"the mapping {mapping.name} found no unit in {counts.read} messages of {decoder.name}, "
        f"the first of which begins with <{decoder.root}>; it looks for {units}"
    )
