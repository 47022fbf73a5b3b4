"""try/catch: the rows that fail are found by halving, the others keep their value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import Error, QueryError
from xstreamcast.evaluate.walk import evaluate, on_rows
from xstreamcast.functions.signature import ERR
from xstreamcast.model.atomic import INTEGER, QNAME, STRING
from xstreamcast.model.column import Column, scatter
from xstreamcast.model.items import Items, empty_items
from xstreamcast.model.qname import QName

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame, Key, Value
    from xstreamcast.model.column import Ints

_OURS: Final = "XSC"  # codes of limits and internal errors, which no query should swallow


def try_(plan: p.Try, frame: Frame) -> Column:
    """The body for all rows at once; after an error for each half, down to single rows."""
    parts: list[tuple[Ints, Column]] = []
    waiting: list[Ints] = [np.arange(frame.n, dtype=np.int64)]
    while waiting:
        rows = waiting.pop()
        try:
            parts.append((rows, on_rows(plan.body, frame, rows)))
        except Error as caught:
            if len(rows) > 1:
                middle = len(rows) // 2
                waiting += [rows[middle:], rows[:middle]]
            else:
                parts.append((rows, _caught(plan, caught, frame.select(rows))))
    return scatter(frame.n, parts)


def _caught(plan: p.Try, caught: Error, frame: Frame) -> Column:
    uri, local = name_of(caught)
    for catch in plan.catches:
        if any(test.uri in (None, uri) and test.local in (None, local) for test in catch.tests):
            return evaluate(catch.result, frame.extend(_variables(catch.variables, caught)))
    raise caught


def name_of(caught: Error) -> tuple[str, str]:
    """The error's code as a qualified name."""
    if isinstance(caught, QueryError) and caught.qname is not None:
        return caught.qname
    return ERR, caught.code


def _variables(names: p.CatchVariables, caught: Error) -> dict[Key, Value]:
    uri, local = name_of(caught)
    prefix = getattr(caught, "prefix", "") or ("err" if uri == ERR else "")
    value = caught.value if isinstance(caught, QueryError) else None
    items = {
        names.code: Items.of(QNAME, [QName(uri, local, prefix)]),
        names.description: _optional(STRING, caught.message),
        names.value: value if isinstance(value, Items) else empty_items(),
        names.module: _optional(STRING, getattr(caught.place, "name", None)),
        names.line_number: _optional(INTEGER, caught.line),
        names.column_number: _optional(INTEGER, caught.column),
        names.additional: empty_items(),
    }
    return {variable.number: Column.constant(held, 1) for variable, held in items.items()}


def _optional(tag: int, value: str | int | None) -> Items:
    return empty_items() if value is None else Items.of(tag, [value])
