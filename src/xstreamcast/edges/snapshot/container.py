"""One file for all tables of a snapshot.

    {"format": 2, "tables": [["names", 1234], …], "facts": {…}, …}\\n     a line of JSON
    Arrow IPC streams, one for each table, in the order of the header
    9f86d081\\n                                         CRC-32 of all bytes before it

The header names the tables and their lengths in bytes; any reader of Arrow can read each of them.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from xstreamcast.operators.snapshot.arrow import Unreadable, arrow

FORMAT: Final = 2  # 1: of streams of fragments and feeds; 2: of documents, too
_CHECK: Final = 9  # bytes of the check and its line feed
_WIDTH: Final = 64  # tables begin at multiples of it, as Arrow likes its buffers


class Snapshot(NamedTuple):
    """The header of a file, and its tables."""

    header: dict[str, Any]
    tables: dict[str, Any]


def packed(header: Mapping[str, Any], tables: Mapping[str, Any]) -> bytes:
    """The bytes of a file."""
    streams = {name: _stream(table) for name, table in tables.items()}
    listed = [[name, len(raw)] for name, raw in streams.items()]
    head = json.dumps({"format": FORMAT, **header, "tables": listed}).encode()
    head += b" " * (-(len(head) + 1) % _WIDTH) + b"\n"
    body = b"".join([head, *streams.values()])
    return body + f"{zlib.crc32(body):08x}\n".encode()


def _stream(table: Any) -> bytes:
    out = io.BytesIO()
    with arrow().ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    raw = out.getvalue()
    return raw + b"\0" * (-len(raw) % _WIDTH)


def unpacked(raw: bytes) -> Snapshot:
    """What a file holds; Unreadable if it is damaged, or of a later format."""
    header, begin = header_of(raw)
    tables = {}
    view = memoryview(raw)
    for name, length in header["tables"]:
        with arrow().ipc.open_stream(arrow().py_buffer(view[begin : begin + length])) as stream:
            tables[name] = stream.read_all()
        begin += length
    return Snapshot(header, tables)


def header_of(raw: bytes) -> tuple[dict[str, Any], int]:
    """The header, and where the tables begin; the whole file is checked."""
    check, end = raw[-_CHECK:], raw.find(b"\n")
    if end < 0 or len(raw) < end + 1 + _CHECK:
        raise Unreadable("it is damaged: it is cut off")
    try:
        header: dict[str, Any] = json.loads(raw[:end])
        version = header["format"]
    except (ValueError, KeyError, TypeError):
        raise Unreadable("it is damaged: it has no header") from None
    if version > FORMAT:
        raise Unreadable(f"it is of format {version}, and this version reads up to {FORMAT}")
    if check != f"{zlib.crc32(memoryview(raw)[:-_CHECK]):08x}\n".encode():
        raise Unreadable("it is damaged: its check does not fit")
    return header, end + 1
