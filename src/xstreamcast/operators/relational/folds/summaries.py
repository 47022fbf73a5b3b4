"""What is kept of the values of a row for an aggregate over many rows, and how it is added up.

A summary of all rows gives the value of the aggregate, unless the values must be seen in their
order again: then `value` gives None.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from xstreamcast.functions.numbers.arithmetic import arithmetic
from xstreamcast.model.atomic import BOOLEAN, DECIMAL, INTEGER
from xstreamcast.model.exact import EXACT
from xstreamcast.model.items import Items
from xstreamcast.operators.relational.folds.extreme import as_sortable, sorts_plainly
from xstreamcast.operators.relational.folds.folds import is_exact

if TYPE_CHECKING:
    from xstreamcast.circuit.nodes import Fold
    from xstreamcast.model.delta import Atom, Cell


class Summary(NamedTuple):
    """An aggregate: of no rows, of one, of two lots together, and its value."""

    zero: Any
    of: Callable[[Cell], Any]
    plus: Callable[[Any, Any], Any]
    value: Callable[[Any], Cell | None]


def summary_of(fold: Fold) -> Summary:
    """How an aggregate is added up."""
    match fold.name:
        case "exists":
            return Summary(False, bool, operator.or_, lambda found: ((BOOLEAN, found),))
        case "empty":
            return Summary(False, bool, operator.or_, lambda found: ((BOOLEAN, not found),))
        case "count":
            return Summary(0, len, operator.add, lambda n: ((INTEGER, n),))
        case "sum":
            return Summary(_NOTHING, _total, _added, lambda t: _summed(t, average=False))
        case "avg":
            return Summary(_NOTHING, _total, _added, lambda t: _summed(t, average=True))
        case "min":
            return Summary((), lambda cell: _extreme(cell, min), _least, _shown)
        case "max":
            return Summary((), lambda cell: _extreme(cell, max), _greatest, _shown)
        case _:
            raise AssertionError(fold.name)


# -- sums -----------------------------------------------------------------------------------------


class Total(NamedTuple):
    """How many values, how many of them decimals, how many no exact numbers; the exact total."""

    n: int
    decimals: int
    others: int
    exact: Any


_NOTHING: Final = Total(0, 0, 0, 0)


def _total(cell: Cell) -> Total:
    found = _NOTHING
    for atom in cell:
        exact = is_exact(atom)
        one = Total(1, atom[0] == DECIMAL, not exact, atom[1] if exact else 0)
        found = _added(found, one)
    return found


def _added(one: Total, other: Total) -> Total:
    return Total(
        one.n + other.n, one.decimals + other.decimals, one.others + other.others,
        EXACT.add(one.exact, other.exact) if one.decimals or other.decimals
        else one.exact + other.exact,
    )  # fmt: skip


def _summed(total: Total, average: bool) -> Cell | None:
    if total.others:
        return None  # doubles are added in the order of their rows
    if total.n == 0:
        return () if average else ((INTEGER, 0),)
    tag = DECIMAL if total.decimals else INTEGER
    found = EXACT.plus(total.exact) if total.decimals else int(total.exact)
    if not average:
        return ((tag, found),)
    mean = arithmetic("div", Items.of(tag, [found]), Items.of(INTEGER, [total.n]))
    return tuple(mean.pairs())


# -- min and max ----------------------------------------------------------------------------------

_MANY: Final = (0, None)  # values of several types, or that have no plain order


def _extreme(cell: Cell, best: Callable[[Any], Any]) -> Any:
    if not all(map(sorts_plainly, cell)):
        return _MANY
    atoms = [as_sortable(atom) for atom in cell]
    if len({tag for tag, _ in atoms}) > 1:
        return _MANY
    return best(atoms) if atoms else ()


def _least(one: Any, other: Any) -> Any:
    if not one or not other or one[0] != other[0] or one == _MANY:
        return _apart(one, other)
    return min(one, other)


def _greatest(one: Any, other: Any) -> Any:
    if not one or not other or one[0] != other[0] or one == _MANY:
        return _apart(one, other)
    return max(one, other)


def _apart(one: Any, other: Any) -> Any:
    if not one or not other:
        return one or other
    return _MANY


def _shown(found: Atom | tuple[()]) -> Cell | None:
    if not found:
        return ()
    return None if found == _MANY else (found,)
