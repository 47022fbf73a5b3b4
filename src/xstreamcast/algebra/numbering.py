"""Positions over all units, where those before a unit tell where its own begin.

for $x at $i in all  →  for each unit: for $x at $j in unit, $i := $j + what the units before gave
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.leading import is_bounded
from xstreamcast.model.atomic import INTEGER

_ONE: Final = p.Const((p.Atom(INTEGER, 1),))


@dataclass(frozen=True, slots=True)
class Numbered:
    """`offset` stands for what the units before gave; `counted` has an item for each of a unit."""

    offset: p.Variable
    counted: p.Expression


@dataclass(frozen=True, slots=True)
class Numbering:
    """A FLWOR over all units: how it is asked of one, and what must be driven for that."""

    asked: p.Expression
    driven: p.Expression
    numbered: Numbered


def numbering(plan: p.Expression, numbers: Iterator[int]) -> Numbering | None:
    """How a FLWOR that numbers its first loop, or the tuples of it, is asked unit by unit."""
    if not isinstance(plan, p.Return):
        return None
    above: list[p.Where | p.Let | p.ForEach] = []
    clause = plan.source
    while isinstance(clause, p.Where | p.Let | p.ForEach) and not _numbers_all(clause):
        above.append(clause)
        clause = clause.source
    variable = _variable(clause)
    if variable is None or any(
        is_bounded(one.test, variable) for one in above if isinstance(one, p.Where)
    ):
        return None  # what asks for the beginning only is kept by that
    offset, own = (p.Variable(next(numbers), name) for name in ("before", variable.name))
    sum_ = p.Arithmetic("+", p.Var(own), p.Var(offset))
    asked = p.Let(_renumbered(clause, own), variable, sum_)
    driven = p.Let(_unnumbered(clause), variable, _ONE)
    counted = p.Return(_unnumbered(clause), _ONE)
    return Numbering(
        replace(plan, source=_under(above, asked)),
        replace(plan, source=_under(above, driven)),
        Numbered(offset, counted),
    )


def _numbers_all(clause: p.Tuples) -> bool:
    """Whether it is a loop with positions that nothing begins anew."""
    if not isinstance(clause, p.ForEach) or clause.position is None or clause.allowing_empty:
        return False
    source = clause.source
    while isinstance(source, p.Let):
        source = source.source
    return isinstance(source, p.Unit)


def _variable(clause: p.Tuples) -> p.Variable | None:
    match clause:
        case p.ForEach(position=position):
            return position
        case p.CountTuples(_, variable):
            return variable
        case _:
            return None


def _renumbered(clause: p.Tuples, own: p.Variable) -> p.Tuples:
    match clause:
        case p.ForEach():
            return replace(clause, position=own)
        case p.CountTuples():
            return replace(clause, variable=own)
        case _:
            return clause


def _unnumbered(clause: p.Tuples) -> p.Tuples:
    match clause:
        case p.ForEach():
            return replace(clause, position=None)
        case p.CountTuples(source):
            return source
        case _:
            return clause


def _under(above: list[p.Where | p.Let | p.ForEach], source: p.Tuples) -> p.Tuples:
    for clause in reversed(above):
        source = replace(clause, source=source)
    return source
