"""Library functions of one row that need no array; None: this value is for the body."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from xstreamcast.evaluate.single.control import holds
from xstreamcast.functions.signature import FN, PREFIXES
from xstreamcast.functions.strings.strings import joined
from xstreamcast.model.atomic import DOUBLE, INTEGER, MAP, PRIMITIVE, STRING
from xstreamcast.model.column import Column, gather
from xstreamcast.model.map_key import map_key
from xstreamcast.model.row import FALSE, NOTHING, TRUE, SingleRow, row_of

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.functions.registry import Function
    from xstreamcast.model.map_item import MapItem

Quick: TypeAlias = "Callable[..., Column | None]"  # (frame, *converted arguments)

_WHOLE: Final = 1 << 53


def quick_of(function: Function, arity: int) -> Quick | None:
    """What computes a library function for one row, if anything does."""
    if function.uri == FN:
        return _QUICK.get((function.local, arity))
    return _QUICK_OF_MAPS.get((function.local, arity)) if function.uri == PREFIXES["map"] else None


def _count(frame: Frame, items: Column) -> Column:
    cells = items.cells if items.__class__ is SingleRow else items.items
    return SingleRow(INTEGER, (len(cells),))


def _empty(frame: Frame, items: Column) -> Column:
    return FALSE if _length(items) else TRUE


def _exists(frame: Frame, items: Column) -> Column:
    return TRUE if _length(items) else FALSE


def _length(items: Column) -> int:
    return len(items.cells if items.__class__ is SingleRow else items.items)


def _not(frame: Frame, items: Column) -> Column:
    return FALSE if holds(items, frame) else TRUE


def _boolean(frame: Frame, items: Column) -> Column:
    return TRUE if holds(items, frame) else FALSE


def _head(frame: Frame, items: Column) -> Column | None:
    if items.__class__ is not SingleRow:
        return None
    row: SingleRow = items
    return SingleRow(row.tag, row.cells[:1]) if row.cells else NOTHING


def _tail(frame: Frame, items: Column) -> Column | None:
    if items.__class__ is not SingleRow:
        return None
    row: SingleRow = items
    return SingleRow(row.tag, row.cells[1:]) if len(row.cells) > 1 else NOTHING


def _abs(frame: Frame, number: Column) -> Column | None:
    found = _cell(number)
    return SingleRow(INTEGER, (abs(found[1]),)) if found and found[0] == INTEGER else None


def _string_length(frame: Frame, text: Column) -> Column | None:
    found = _text(text)
    return None if found is None else SingleRow(INTEGER, (len(found),))


def _concat(frame: Frame, *parts: Column) -> Column | None:
    texts = [_text(part) for part in parts]
    if any(text is None for text in texts):
        return None
    return SingleRow(STRING, (joined(texts),))  # type: ignore[arg-type]


def _string(frame: Frame, item: Column) -> Column | None:
    found = _cell(item)
    if found is None or PRIMITIVE.get(found[0]) not in (STRING, INTEGER):
        return None
    if PRIMITIVE[found[0]] == INTEGER and abs(found[1]) >= _WHOLE:
        return None
    return SingleRow(STRING, (str(found[1]),))


def _cell(column: Column) -> tuple[int, Any] | None:
    if column.__class__ is SingleRow and len(column.cells) == 1:
        return column.tag, column.cells[0]
    return None


def _text(column: Column) -> str | None:
    """A single string; None for all else, the empty sequence included."""
    found = _cell(column)
    return found[1] if found and PRIMITIVE.get(found[0]) == STRING else None


def _substring(frame: Frame, text: Column, start: Column, length: Column | None = None) -> Any:
    found, begin = _text(text), _whole(start)
    size = -1 if length is None else _whole(length)
    if found is None or begin is None or size is None:
        return None
    end = len(found) if length is None else max(begin - 1 + size, 0)
    return SingleRow(STRING, (found[max(begin - 1, 0) : end],))


def _subsequence(frame: Frame, items: Column, start: Column, length: Column | None = None) -> Any:
    begin, size = _whole(start), -1 if length is None else _whole(length)
    if begin is None or size is None:
        return None
    count = _length(items)
    end = count if length is None else min(max(begin - 1 + size, 0), count)
    return _run(items, max(begin - 1, 0), end)


def _run(items: Column, begin: int, end: int) -> Column:
    """The items from one place to another."""
    if begin >= end:
        return NOTHING
    if items.__class__ is SingleRow:
        return SingleRow(items.tag, items.cells[begin:end])
    part = items.items.slice(begin, end)
    return Column(part) if end - begin == 1 else Column(part, np.array((0, end - begin), np.int64))


def _index_of(frame: Frame, items: Column, wanted: Column) -> Column | None:
    row, found = row_of(items), _cell(wanted)
    if row is None or found is None or not row.tag == found[0] == INTEGER:
        return None
    places = tuple(i for i, cell in enumerate(row.cells, start=1) if cell == found[1])
    return SingleRow(INTEGER, places) if places else NOTHING


def _sum(frame: Frame, items: Column) -> Column | None:
    row = row_of(items)
    if row is None or row.tag != INTEGER:
        return None
    return SingleRow(INTEGER, (sum(row.cells),))


def _whole(column: Column) -> int | None:
    """A double that is a whole number."""
    found = _cell(column)
    if found is None or found[0] != DOUBLE or not found[1].is_integer():
        return None
    return int(found[1])


# -- maps ------------------------------------------------------------------------------------


def map_of(column: Column) -> MapItem | None:
    """One map; None for all else."""
    if column.__class__ is SingleRow:
        return column.cells[0] if column.tag == MAP and len(column.cells) == 1 else None
    items = column.items
    return items.values[0] if items.tag == MAP and len(items) == 1 else None


def value_in(found: MapItem, key: Column) -> Column | None:
    """What a map holds under one atomic key."""
    atom = _atom(key)
    if atom is None:
        return None
    cell = found.find(*atom)
    return NOTHING if cell is None else gather((cell,))


def _map_get(frame: Frame, held: Column, key: Column) -> Column | None:
    found = map_of(held)
    return None if found is None else value_in(found, key)


def _map_contains(frame: Frame, held: Column, key: Column) -> Column | None:
    found, atom = map_of(held), _atom(key)
    if found is None or atom is None:
        return None
    return FALSE if found.find(*atom) is None else TRUE


def _map_put(frame: Frame, held: Column, key: Column, value: Column) -> Column | None:
    found, atom = map_of(held), _atom(key)
    if found is None or atom is None:
        return None
    return SingleRow(MAP, (found.changed({map_key(*atom): (atom, value, 0)}),))


def _map_size(frame: Frame, held: Column) -> Column | None:
    found = map_of(held)
    return None if found is None else SingleRow(INTEGER, (len(found),))


def _atom(key: Column) -> tuple[int, Any] | None:
    row = row_of(key)
    if row is None or len(row.cells) != 1 or row.tag not in PRIMITIVE:
        return None
    return row.tag, row.cells[0]


_QUICK: Final[dict[tuple[str, int], Quick]] = {
    ("count", 1): _count,
    ("empty", 1): _empty,
    ("exists", 1): _exists,
    ("not", 1): _not,
    ("boolean", 1): _boolean,
    ("head", 1): _head,
    ("tail", 1): _tail,
    ("abs", 1): _abs,
    ("sum", 1): _sum,
    ("index-of", 2): _index_of,
    ("subsequence", 2): _subsequence,
    ("subsequence", 3): _subsequence,
    ("substring", 2): _substring,
    ("substring", 3): _substring,
    ("string-length", 1): _string_length,
    ("string", 1): _string,
    ("concat", 2): _concat,
    ("concat", 3): _concat,
}
_QUICK_OF_MAPS: Final[dict[tuple[str, int], Quick]] = {
    ("get", 2): _map_get,
    ("contains", 2): _map_contains,
    ("put", 3): _map_put,
    ("size", 1): _map_size,
}
