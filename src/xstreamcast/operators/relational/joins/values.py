"""The values by which rows are joined, and what they can be compared with."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from xstreamcast.algebra.analysis.free import facts
from xstreamcast.errors import Error
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.compare.keys import hash_keys
from xstreamcast.functions.compare.values import FAMILY, NUMBER
from xstreamcast.model.atomic import STRING, UNTYPED

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.model.column import Column
    from xstreamcast.model.delta import Key, Row
    from xstreamcast.operators.relational.tick import Round

UNTYPED_TEXT: Final = 1
TYPED_TEXT: Final = 2
NUMERIC: Final = 4
OTHER: Final = 8  # values of other types, or that could not be made


class JoinValues(NamedTuple):
    """The values of one row by kind, and of what kinds they are; keys of other types hash alike."""

    atoms: tuple[tuple[int, Any], ...] = ()
    kinds: int = 0


UNKNOWN: Final = JoinValues((), OTHER)


def key_values(
    plan: p.Expression, columns: Sequence[p.Variable], rows: Sequence[tuple[Key, Row]], turn: Round
) -> list[JoinValues]:
    """The values of each row; where one fails, those of the others are found all the same."""
    try:
        return _values(plan, columns, rows, turn)
    except Error:
        if len(rows) == 1:
            return [UNKNOWN]
        half = len(rows) // 2
        parts = rows[:half], rows[half:]
        return [one for part in parts for one in key_values(plan, columns, part, turn)]


def _values(
    plan: p.Expression, columns: Sequence[p.Variable], rows: Sequence[tuple[Key, Row]], turn: Round
) -> list[JoinValues]:
    used = facts(plan).free
    given = {
        v.number: [row.cells[at] for _, row in rows] for at, v in enumerate(columns) if v in used
    }
    space = turn.workspace()
    frame = space.frame(given, len(rows), {})
    return values_by_row(atomize(space.store, evaluate(plan, frame)))


def values_by_row(column: Column) -> list[JoinValues]:
    """The values of each row of a column."""
    tags = column.items.all_tags().tolist()
    keys = hash_keys(column.items, inexact=True).tolist() if tags else []
    atoms = [_atom(tag, key) for tag, key in zip(tags, keys, strict=True)]
    if column.offsets is None:  # rows with one value each, which many rows may share
        known = {atom: JoinValues((atom,), atom[0]) for atom in atoms}
        return [known[atom] for atom in atoms]
    out = []
    for first, last in itertools.pairwise(column.bounds().tolist()):
        own = tuple(dict.fromkeys(atoms[first:last]))
        kinds = 0
        for kind, _ in own:
            kinds |= kind
        out.append(JoinValues(own, kinds))
    return out


def _atom(tag: int, key: Any) -> tuple[int, Any]:
    if tag == UNTYPED:
        return UNTYPED_TEXT, key
    family = FAMILY.get(tag)
    if family == STRING:
        return TYPED_TEXT, key
    if family == NUMBER:
        return NUMERIC, key[1] if isinstance(key[1], float) else math.nan
    return OTHER, key


_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|-?INF|\+INF|NaN", re.ASCII)


def as_number(text: str) -> float | None:
    """The double that an untyped value is compared as; None if it is none."""
    found = text.strip(" \t\r\n")
    return float(found) if _NUMBER.fullmatch(found) else None
