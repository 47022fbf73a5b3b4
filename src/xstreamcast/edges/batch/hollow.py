"""Fragments of which a query sees nothing but what fills their holes: their payloads are not read.

for $a in //auction return $a/bidder[1]/increase   →   of auctions, their ids and holes
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.compared import program_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xstreamcast.algebra.analysis.guide import Guide
    from xstreamcast.algebra.analysis.strategies import Choice
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.structure import TagStructure


def hollow_tags(
    programs: Sequence[Program], choices: Sequence[Choice], structure: TagStructure, guide: Guide
) -> frozenset[int]:
    """The tags of such fragments, whose holes are children of their elements.

    `choices`: what each of the programs reads.
    """
    nodes = (node for one in programs for node in program_nodes(one))
    if any(isinstance(node, p.Step) and node.axis == "attribute" for node in nodes):
        return frozenset()
    full = frozenset[int]().union(*(one.full for one in choices))
    hollow = full.intersection(*(one.shells | (full - one.full) for one in choices))
    return frozenset(
        tag
        for tag in hollow - {structure.root}
        if not structure[tag].uri and all(not link.path for link in guide.links.get(tag, ()))
    )
