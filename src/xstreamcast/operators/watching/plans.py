"""How a query is computed over inputs whose kinds and tag structures are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xstreamcast.algebra.analysis.cut import Cut, DepthCut
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.inputs.documents import Levels, deepest_circuit
from xstreamcast.circuit.node_sources import in_order
from xstreamcast.circuit.unit_folds.kept import with_inner_folds
from xstreamcast.operators.feeds.answer import ROOT
from xstreamcast.operators.feeds.document import DocumentFeed, WholeDocument
from xstreamcast.operators.feeds.split import SplitFeed
from xstreamcast.operators.relational.run import CircuitRun

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.tape.names import Names


@dataclass(frozen=True, slots=True)
class WatchPlan:
    """A circuit over the cuts of its inputs."""

    circuit: c.Circuit
    cuts: Mapping[str | None, Cut]
    levels: Levels  # of documents

    def run(self, final: bool = False, once: frozenset[str | None] = frozenset()) -> CircuitRun:
        """The operators; `final`: what is emitted is never revised; `once`: inputs whose units are
        dropped after each tick.
        """
        return CircuitRun(self.circuit, final, once)

    def document(self, name: str | None, names: Names, mixed: bool) -> DocumentReader:
        """What reads a document; `mixed`: other inputs may let it be read another way later."""
        title = name or "input"
        if name in self.circuit.whole:
            return WholeDocument(title, names)
        nodes = in_order(self.circuit.root)
        if any(isinstance(n, c.Units) and n.input == name and n.pieces for n in nodes):
            kept = sorted((guard for one, guard in self.circuit.held if one == name), key=str)
            return DocumentFeed(title, names, self.levels[name], held=kept)
        held = any(isinstance(n, c.Units) and n.append for n in nodes)
        # where inputs are joined, what is to come on one may mend an error over another
        drops = held and len(self.circuit.sources) == 1
        return SplitFeed(title, names, self.levels[name], mixed, held, drops)


DocumentReader = DocumentFeed | SplitFeed | WholeDocument


def planned(
    program: Program,
    cuts: Mapping[str | None, Cut],
    documents: frozenset[str | None],
    inner: bool,
    grown: frozenset[str | None] = frozenset(),
    once: frozenset[str | None] = frozenset(),
) -> WatchPlan:
    """The plan; `inner`: folds over fragments inside of units are kept.

    `cuts` are those of fragment streams, and of answers that are read as inputs; `grown` are
    answers that only grow, and items of those in `once` are dropped after each tick.
    """
    circuit, levels = deepest_circuit(program, cuts, documents, grown, once)
    answers = {name for name, cut in cuts.items() if isinstance(cut, DepthCut)}
    around = {name for name, (_, local) in circuit.guards if local == ROOT} & answers
    if around:  # the elements around the items of an answer are read with them
        rest = {name: cut for name, cut in cuts.items() if name not in around}
        return planned(program, rest, documents, inner, grown, once)
    if inner:
        circuit = with_inner_folds(program, circuit, cuts)
    return WatchPlan(circuit, cuts, levels)
