"""Rows of a table as the wire that they came from, in canonical form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from xstreamcast.edges.table.schema import arrow
from xstreamcast.model.date_time import day_number
from xstreamcast.model.instant import DAY, show_instant
from xstreamcast.model.markup import quoteattr

_ROWS: Final = 100_000  # turned into bytes at once
_EPOCH: Final = day_number(1970, 1, 1)
_PLAIN_FROM: Final = (day_number(1, 1, 1) - _EPOCH) * DAY  # Arrow writes years 1 to 9999 as we do
_PLAIN_UNTIL: Final = (day_number(9999, 12, 31) - _EPOCH) * DAY


def wire(rows: Any) -> Iterator[bytes]:
    """The fragments of rows, which are in order of arrival."""
    for first in range(0, rows.num_rows, _ROWS):
        part = rows.slice(first, _ROWS).combine_chunks()
        yield b"".join(_lines(part).to_pylist())


def _lines(rows: Any) -> Any:
    pa = arrow()
    pc = pa.compute
    word = rows["operation"].cast(pa.large_binary())
    tag = pc.if_else(
        pc.greater_equal(rows["tag"], 0),
        pc.binary_join_element_wise(' tsid="', rows["tag"].cast(pa.string()), '"', ""),
        "",
    )
    parts = [
        b"<stream:", word, b" id=", quoted(rows["id"]), tag, b' validTime="',
        _instants(rows["valid"], rows["zoned"]), b'"', _more(rows), b">",
        pc.coalesce(rows["payload"], b""),
        b"</stream:", word, b">\n",
    ]  # fmt: skip
    cast = [_binary(part) for part in parts]
    return pc.binary_join_element_wise(*cast, _binary(b""))


def _more(rows: Any) -> Any:
    """What not every fragment says."""
    pc = arrow().compute
    timeless = pc.if_else(pc.fill_null(rows["timeless"], False), ' timeless="true"', "")
    more = pc.coalesce(rows["attributes"], "")
    if "unit" not in rows.schema.names or rows["unit"].null_count == rows.num_rows:
        return pc.binary_join_element_wise(timeless, more, "")
    unit = pc.binary_join_element_wise(" unit=", quoted(pc.fill_null(rows["unit"], "")), "")
    unit = pc.if_else(pc.is_valid(rows["unit"]), unit, "")
    return pc.binary_join_element_wise(timeless, more, unit, "")


def _binary(part: Any) -> Any:
    kind = arrow().large_binary()
    return arrow().scalar(part, kind) if isinstance(part, bytes) else part.cast(kind)


def quoted(ids: Any) -> Any:
    """Ids as attribute values."""
    pa = arrow()
    pc = pa.compute
    if pc.any(pc.match_substring_regex(ids, r"[^0-9A-Za-z_.:/ -]")).as_py():
        return pa.array([quoteattr(text) for text in ids.to_pylist()], pa.string())
    return pc.binary_join_element_wise('"', ids, '"', "")


def _instants(valid: Any, zoned: Any) -> Any:
    """Valid times as dateTimes."""
    pa = arrow()
    pc = pa.compute
    low, high = (end.as_py() for end in pc.min_max(valid).values())
    if low is not None and not _PLAIN_FROM <= low <= high <= _PLAIN_UNTIL:
        both = zip(valid.to_pylist(), zoned.to_pylist(), strict=True)
        return pa.array([show_instant(*one) for one in both], pa.string())
    text = pc.replace_substring(valid.cast(pa.timestamp("us")).cast(pa.string()), " ", "T")
    return pc.binary_join_element_wise(text, pc.if_else(zoned, "Z", ""), "")
