"""A mapping that finds no unit or no time in the messages of a feed: what it looks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.model.counted import counted

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.decoder import MappingDecoder


def without_times(decoder: MappingDecoder) -> list[str]:
    """A sentence for each entry that finds no time in any message or unit."""
    counts, mapping = decoder.counts, decoder.mapping
    found = []
    if mapping.time is not None and counts.read and not counts.timed:
        read = counted(counts.read, "message")
        found.append(f"message.time = {mapping.time.path!r} found no time in {read}")
    for kind in decoder.kinds.values():
        if kind.rule.begins is not None and kind.read and not kind.timed:
            path, read = kind.rule.begins.path, counted(kind.read, "unit")
            found.append(f"unit.{kind.rule.name}.from = {path!r} found no time in {read}")
    return found


def without_zones(decoder: MappingDecoder) -> list[str]:
    """A sentence for each entry that finds times of day without a time zone."""
    return [
        f"unit.{kind.rule.name}.{word} finds times without a time zone, which count as UTC; "
        'zone = "+01:00" in the entry sets another'
        for kind in decoder.kinds.values()
        for word in kind.unzoned
    ]


def unfit(decoder: MappingDecoder) -> str | None:
    """A sentence, if messages came and none has anything that the mapping looks for."""
    counts, mapping = decoder.counts, decoder.mapping
    root, uri = decoder.root
    if not counts.read or counts.units or counts.removals or counts.refused or not root:
        return None
    units = ", ".join(f"{one.name} at {one.path}" for one in mapping.units)
    known = mapping.namespaces
    space = "no namespace" if not uri else f"the namespace {uri}"
    there = "" if not known or uri in known.values() else f" of {space}"
    prefixes = " and ".join(f"{prefix} is {one}" for prefix, one in known.items())
    where = f", where {prefixes}" if there else ""
    return (
        f"the mapping {mapping.name} found no unit in "
        f"{counted(counts.read, 'message')} of {decoder.name}, "
        f"the first of which begins with <{root}>{there}; it looks for {units}{where}"
    )
