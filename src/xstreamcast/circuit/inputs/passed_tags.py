"""How deep streams of fragments are cut: at the fragments that a query binds.

units in the holes of accounts  →  the same circuit as with accounts for units, and smaller units
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from xstreamcast.algebra.analysis.cut import Cut, DepthCut, TagCut
from xstreamcast.algebra.program import Program
from xstreamcast.circuit.compile import circuit_of
from xstreamcast.circuit.show.operators import show_circuit
from xstreamcast.model.structure import TagStructure


def passing(
    program: Program, cuts: Mapping[str | None, Cut], documents: frozenset[str | None]
) -> dict[str | None, Cut]:
    """The cuts, those of streams as deep as the query is computed in the same way."""
    found = dict(cuts)
    others: dict[str | None, Cut] = {name: DepthCut(2) for name in documents}
    for name, cut in cuts.items():
        if isinstance(cut, TagCut) and not cut.structure.open:
            found[name] = _deepest(program, {**found, **others}, name, cut)
    return found


def _deepest(
    program: Program,
    cuts: Mapping[str | None, Cut],
    name: str | None,
    cut: TagCut,
) -> TagCut:
    tried = [replace(cut, passed=tags) for tags in _ancestors(cut.structure)]
    if not tried:
        return cut
    plain = _form(program, {**cuts, name: cut})
    for one in reversed(tried):
        if _form(program, {**cuts, name: one}) == plain:
            return one
    return cut


def _form(program: Program, cuts: Mapping[str | None, Cut]) -> object:
    """What is computed unit by unit, and what from whole inputs."""
    circuit = circuit_of(program, cuts)
    return show_circuit(circuit), circuit.whole, circuit.guards


def _ancestors(structure: TagStructure) -> Iterator[frozenset[int]]:
    """Fragments around others, to the first level, to the second, and so on."""
    depth = _depths(structure)
    if depth is None:
        return
    inner = {
        tag
        for tag in depth
        if any(one != tag and structure.travels(one) for one in structure.below(tag))
    }
    before: frozenset[int] = frozenset()
    for most in range(1, max(depth.values(), default=0) + 1):
        found = frozenset(tag for tag in inner if depth[tag] <= most)
        if found != before:
            yield found
        before = found


def _depths(structure: TagStructure) -> dict[int, int] | None:
    """Of each tag that travels, how many fragments it is in; None if tags are recursive."""
    found: dict[int, int] = {}
    todo = [(structure.root, 0, frozenset[int]())]
    while todo:
        tag, above, around = todo.pop()
        if tag in around:
            return None
        travels = tag != structure.root and structure.travels(tag)
        if travels and found.setdefault(tag, above + 1) != above + 1:
            return None  # a tag at several depths
        inside = around | {tag}
        todo += [(one, above + travels, inside) for one in structure[tag].children]
    return found
