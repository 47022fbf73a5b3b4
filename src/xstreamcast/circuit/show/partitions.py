"""What the rows of each operator are partitioned by on Spark, in words."""

from __future__ import annotations

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order, sources_of
from xstreamcast.circuit.passes.column_types import joins_by_hash
from xstreamcast.circuit.stages import ONE, RowPlace, stages_of, why_one_partition

NOTHING = "nothing"


def partitioned_by(circuit: c.Circuit) -> dict[int, str]:
    """What each node is partitioned by, by its identity; nothing: its rows are in one place."""
    if why_one_partition(circuit, strict=False) is not None:
        return {}
    places, hashed = stages_of(circuit).places, joins_by_hash(circuit)
    found: dict[int, str] = {}
    for node in in_order(circuit.root):
        if places[id(node)] != ONE:
            found[id(node)] = _own(node, hashed) or _of_inputs(node, places, found)
    return found


def _own(node: c.Node, hashed: frozenset[int] | set[int]) -> str | None:
    """What a node partitions its rows by itself."""
    match node:
        case c.Units():
            return "the unit"
        case c.Group(outer=0) | c.Members(outer=0):
            return "the group's key"
        case c.Join() if id(node) in hashed:
            return "the join key"
        case _:
            return None


def _of_inputs(node: c.Node, places: dict[int, RowPlace], found: dict[int, str]) -> str:
    """What its inputs are partitioned by, if they stay where they are."""
    place = places[id(node)]
    stay = [one for one in sources_of(node) if places[id(one)] == place or place.kind == "made"]
    words = [found[id(one)] for one in stay if id(one) in found]
    return " or ".join(dict.fromkeys(words)) or "the outer row"
