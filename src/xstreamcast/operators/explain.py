"""How joins and windows over documents are computed, in words; and what grows without bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from xstreamcast.algebra.cut import Cut, DepthCut
from xstreamcast.algebra.division import Division, Part
from xstreamcast.algebra.split import inputs_of
from xstreamcast.algebra.windowed import Windowed
from xstreamcast.circuit.unbounded import kept_history, unbounded_nodes
from xstreamcast.operators import explain_joins
from xstreamcast.operators.plans import planned
from xstreamcast.operators.windowing.explain import windows_grow, windows_keep

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program


def explain_operators(program: Program, division: Division) -> str:
    """The operators of a query over documents in words, a block each."""
    blocks = ["\n".join(_part(part, division, program)) for part in division.parts]
    if not division.plain:
        blocks.append("\n".join(_rest(division)))
    return "\n\n".join(blocks)


def unbounded(
    program: Program,
    streams: frozenset[str | None] = frozenset(),
    once: frozenset[str | None] = frozenset(),
) -> list[str]:
    """What may grow without bound as the inputs go on; `streams` are inputs of fragments, and
    nothing is kept of inputs that are read once.
    """
    plan = planned(program, {}, inputs_of(program), inner=False)
    found = [kept_history(name) for name in sorted(streams, key=str)]
    if plan.division is None:
        return unbounded_nodes(plan.circuit, streams | once) + found
    return [
        said
        for part in plan.division.parts
        if part.input not in streams
        for said in _growing(part, plan.division, once)
    ] + found


def _part(part: Part, division: Division, program: Program) -> Iterator[str]:
    yield f"{_operator(part)} over {_name(part.input)}"
    yield f"  units: {_units(division.cuts[part.input])}"
    for _, local in sorted(part.guards, key=str):
        yield f"  or: an element {local} around them, with all it contains"
    yield from explain_joins.joins(part, program)
    if part.clock:
        yield "  clock: when it moves, every unit is evaluated again"
    yield f"  keeps: the unit that is being read; {_keeps(part, division.plain)}"
    growing = list(_growing(part, division))
    yield f"  bounded: {'no; ' + growing[0] if growing else 'yes'}"


def _rest(division: Division) -> Iterator[str]:
    yield "then computed from these values, and compared with what was emitted"
    if division.clock:
        yield "  clock: reads the clock"
    yield "  keeps: the answer"


def _operator(part: Part) -> str:
    match part.shape:
        case Windowed(window=window, by=by):
            told = f"{window.kind} windows" + ("" if by is None else " of each value")
            return told if part.fold == "items" else f"{part.fold} of {told}"
        case _:
            return "join" if part.fold == "items" else part.fold


def _units(cut: Cut) -> str:
    assert isinstance(cut, DepthCut)
    return f"elements {'below' if cut.depth == 2 else f'{cut.depth - 1} levels below'} the root"


def _keeps(part: Part, plain: bool) -> str:
    match part.shape:
        case Windowed() as shape:
            held = windows_keep(shape)
            if part.fold in ("count", "exists", "empty"):
                return held + "; a number"
            return held + ("" if plain and part.fold == "items" else "; all results")
        case _ if part.around is not None:
            return "a number, and which of the open elements are counted"
        case _:
            return "the answer of each unit"


def _growing(
    part: Part, division: Division, once: frozenset[str | None] = frozenset()
) -> Iterator[str]:
    name = _name(part.input)
    yield from explain_joins.growing(part, once)
    if (part.others or part.clock or part.probes) and part.input not in once:
        yield (
            f"the units of {name} are kept, because they may have to be evaluated again; "
            "windows would bound them"
        )
    if isinstance(part.shape, Windowed):
        yield from windows_grow(part.shape, name)
        counted = part.fold in ("count", "exists", "empty")
        if not counted and not (division.plain and part.fold == "items"):
            yield f"what follows needs the results of all windows of {name}"


def _name(name: str | None) -> str:
    return "the context item" if name is None else f'stream("{name}")'
