"""A probe: another input that a part reaches only through an equality."""

from __future__ import annotations

from dataclasses import field

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.cut import Guard
from xstreamcast.algebra.place import NOWHERE
from xstreamcast.errors import Span
from xstreamcast.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Probe:
    """The units of another input that a unit meets are those that share a value with it.

    `document` stands in the part for those units, a document in miniature each; `here` are the
    values of the driven unit, over its document and those of probes before this one; `there` the
    values of a unit of the other input, over `unit`. Both may be more than are compared.
    `additive`: further units of the other input can only add to what the part gives.
    """

    input: str
    document: p.Variable
    unit: p.Variable
    here: p.Expression
    there: p.Expression
    guards: frozenset[Guard] = frozenset()
    additive: bool = False
    span: Span = field(default=NOWHERE, compare=False)  # of the equality
