"""What is kept of the tuples of a group or window: folds over values, and members.

count($x) behind group by  →  a fold, updated by each tuple
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.circuit.analysis.distinct_nodes import Side
from xstreamcast.functions.signature import FN

FOLDS: Final = frozenset(
    {"count", "exists", "empty", "sum", "avg", "min", "max", "distinct-values", "string-join"}
)
COUNTED: Final = frozenset({"count", "exists", "empty"})
# Those over a part of a sorted sequence that need not be made again for each part.
SUMMARISED: Final = frozenset({"count", "exists", "empty", "sum", "avg", "min", "max"})


@dataclass(frozen=True, slots=True)
class GroupFold:
    """A call over the values that an expression has in each tuple before grouping.

    `once`: tuples with one row of this side of a join hold the same nodes, which count once.
    `different`: it counts different values. `deferred`: what reads it calls the function on it.
    """

    call: p.Call
    value: p.Expression
    into: p.Variable
    once: Side | None = None
    different: bool = False
    deferred: bool = False


@dataclass(frozen=True, slots=True)
class GroupMembers:
    """A variable that represents all that another one holds in the tuples of a group."""

    variable: p.Variable
    before: p.Variable
    after: p.Variable
    apart: bool  # each tuple holds other nodes, in document order


@dataclass(frozen=True, slots=True)
class Decomposed:
    """What is kept of the tuples of a group by clause, with or in place of its variables."""

    folds: tuple[GroupFold, ...]
    members: tuple[GroupMembers, ...]
    item: p.Variable | None = None  # what one item of a window is called
    hasty: bool = False  # some fold may fail where nothing reads it


def is_fold(plan: p.Expression) -> bool:
    """Whether it is an aggregate of its first argument; further ones are constants."""
    match plan:
        case p.Call(function, (_, *others)):
            known = function.uri == FN and function.local in FOLDS
            return known and all(isinstance(one, p.Const) for one in others)
        case _:
            return False
