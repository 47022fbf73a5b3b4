"""How joins between units are computed, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Part
    from xstreamcast.algebra.program import Program


def joins(part: Part, program: Program) -> Iterator[str]:
    """A line for each join: the other input, the equality, and what a change of it makes dirty."""
    for one in part.probes:
        first, last = one.span
        test = " ".join(program.source.text[first:last].split())
        where = f" where {test}" if test else ""
        yield f'  joins: units of stream("{one.input}"){where}, by a hash of the values'
        for _, local in sorted(one.guards, key=str):
            yield f"    or: an element {local} around them, with all it contains"
        yield "    dirty: a unit of it makes those dirty that share a value, before or after"
        yield f"    keeps: {_kept(one.input)}"
        yield "    strict: " + (
            "pairs are told when both units are complete"
            if one.additive
            else f'waits until stream("{one.input}") is complete or ends'
        )


def _kept(name: str) -> str:
    units = f'the units of stream("{name}"), those that match none only until the other ends'
    return f"the values of both sides; {units}; the units that are driven, until it ends"


def growing(part: Part, once: frozenset[str | None]) -> Iterator[str]:
    """What a join keeps without bound."""
    for one in (probe for probe in part.probes if probe.input not in once):
        yield (
            f'the units of stream("{one.input}") are kept, because later units may match them; '
            "the end of the other input or windows would bound it"
        )
