"""What grows without bound while a query runs, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.algebra.analysis.inputs import inlined, inputs_of
from xstreamcast.algebra.analysis.projected import is_projected
from xstreamcast.circuit.show.unbounded import kept_history, unbounded_nodes
from xstreamcast.operators.watching.plans import planned

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program


def unbounded(
    program: Program,
    streams: frozenset[str | None] = frozenset(),
    once: frozenset[str | None] = frozenset(),
    tables: frozenset[str | None] = frozenset(),
) -> list[str]:
    """What may grow without bound with the inputs; `streams` are inputs of fragments, nothing
    is kept of inputs that are read once, and tables do not grow.
    """
    plan = planned(program, {}, inputs_of(program), inner=False)
    body = inlined(program)
    found = [kept_history(name, is_projected(body, name)) for name in sorted(streams, key=str)]
    return unbounded_nodes(plan.circuit, streams | once, tables) + found
