"""Values that are compared by order: what they are sorted by, so that the order is the language's.

Which of two values is smaller depends on the types of both. While the types on both sides say how
all of them are compared, each row is known by one value; otherwise each comparison itself must say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.errors import Error
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.compare.values import FAMILY, ordinals
from xstreamcast.model.atomic import (
    DATE,
    DATE_TIME,
    DECIMAL,
    DOUBLE,
    INTEGER,
    PRIMITIVE,
    STRING,
    TIME,
    UNTYPED,
)
from xstreamcast.model.items import Items
from xstreamcast.operators.relational.joins.values import as_number

if TYPE_CHECKING:
    from xstreamcast.model.delta import Cell, Key, Row
    from xstreamcast.operators.relational.tick import Round

Mode = str  # "none", "text", "exact", "double", "moment", "each"
_EXACT: Final = frozenset({INTEGER, DECIMAL})
_NUMBERS: Final = _EXACT | {DOUBLE}
_MOMENTS: Final = (DATE_TIME, DATE, TIME)
_LARGEST: Final = 10**300


class NotSorted(Exception):
    """A value has no place in the order of the others: each must be compared."""


def order_mode(left: Iterable[int], right: Iterable[int], general: bool) -> Mode:
    """How values of such types are compared; `each`: every pair must be compared."""
    one, other = _kinds(left, general), _kinds(right, general)
    both = one | other
    if not one or not other:
        return "none"
    if all(FAMILY.get(tag) == STRING for tag in both):
        return "text"
    if both <= _EXACT:
        return "exact"
    texts = UNTYPED in one and UNTYPED in other
    if both <= _NUMBERS | {UNTYPED} and not texts and not (one & _EXACT and other & _EXACT):
        return "double"
    if len(both) == 1 and both <= set(_MOMENTS):
        return "moment"
    return "each"


def _kinds(tags: Iterable[int], general: bool) -> frozenset[int]:
    """Primitive types; a value comparison takes untyped values as strings."""
    found = {PRIMITIVE.get(tag, tag) for tag in tags}
    if not general and UNTYPED in found:
        found = found - {UNTYPED} | {STRING}
    return frozenset(found)


def sort_values(cell: Cell, mode: Mode) -> list[Any] | None:
    """What the values of a row are sorted by; None if one of them cannot be compared so."""
    match mode:
        case "text" | "exact":
            return [value for _, value in cell]
        case "double":
            found = [_as_double(tag, value) for tag, value in cell]
            if any(number is None for number in found):
                return None
            return [number for number in found if not math.isnan(number)]  # type: ignore[arg-type]
        case "moment":
            items = Items.mixed([tag for tag, _ in cell], [value for _, value in cell])
            return ordinals(items, 0).tolist() if cell else []
        case _:
            return None


def _as_double(tag: int, value: Any) -> float | None:
    if tag == UNTYPED:
        return as_number(value)
    return float(value) if abs(value) < _LARGEST or PRIMITIVE[tag] == DOUBLE else None


def key_cells(
    plan: p.Expression, columns: Sequence[p.Variable], rows: Sequence[tuple[Key, Row]], turn: Round
) -> list[Cell | None]:
    """The atomic values of each row; None where they cannot be made."""
    try:
        return _cells(plan, columns, rows, turn)
    except Error:
        if len(rows) == 1:
            return [None]
        half = len(rows) // 2
        parts = rows[:half], rows[half:]
        return [one for part in parts for one in key_cells(plan, columns, part, turn)]


def _cells(
    plan: p.Expression, columns: Sequence[p.Variable], rows: Sequence[tuple[Key, Row]], turn: Round
) -> list[Cell | None]:
    if not rows:
        return []
    if isinstance(plan, p.Var) and plan.variable in columns:
        at = columns.index(plan.variable)
        cells = [row.cells[at] for _, row in rows]
        if all(tag in FAMILY for cell in cells for tag, _ in cell):
            return list(cells)
    used = facts(plan).free
    given = {
        v.number: [row.cells[at] for _, row in rows] for at, v in enumerate(columns) if v in used
    }
    space = turn.workspace()
    frame = space.frame(given, len(rows), {})
    return list(space.cells(atomize(space.store, evaluate(plan, frame))))


def raise_error(plan: p.Expression, columns: Sequence[p.Variable], row: Row, turn: Round) -> None:
    """Evaluate what fails, so that it is said why."""
    _cells(plan, columns, [((), row)], turn)
