"""JSON, lines of JSON and CSV as documents: the XML that fn:json-to-xml makes of them.

A file is known by its suffix. Lines of JSON are one array of their values; CSV is one array of
maps, the first row naming the keys of each, every value a string.
"""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xstreamcast.errors import error
from xstreamcast.functions.json.xml import document

if TYPE_CHECKING:
    from xstreamcast.tape.store import Store


def is_json_or_csv(path: str | os.PathLike[str]) -> bool:
    """Whether the suffix of a file says that it holds no XML."""
    return Path(path).suffix.lower() in _WRITTEN


def read_document(store: Store, source: Any) -> int:
    """The document node of a source: XML, or what its suffix says."""
    if isinstance(source, str | os.PathLike):
        written = _WRITTEN.get(Path(source).suffix.lower())
        if written is not None:
            return document(store, written(_text(Path(source))))
    return store.read(source)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as why:
        raise error("XSCX0002", f"{path} is not UTF-8: invalid byte {why.start}") from None


def _as_it_is(text: str) -> str:
    return text


def _lines(text: str) -> str:
    return "[" + ",\n".join(line for line in text.splitlines() if line.strip()) + "]"


def _rows(text: str) -> str:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        head, *rest = list(rows) or [[]]
    except csv.Error as why:
        raise error("XSCX0001", f"line {rows.line_num} is not valid CSV: {why}") from None
    for number, row in enumerate(rest, start=2):
        if row and len(row) != len(head):
            sentence = f"row {number} of the CSV must have {len(head)} values; got {len(row)}"
            raise error("XSCX0001", sentence)
    made = [dict(zip(head, row, strict=True)) for row in rest if row]
    return json.dumps(made, ensure_ascii=False)


_WRITTEN = {".json": _as_it_is, ".ndjson": _lines, ".jsonl": _lines, ".csv": _rows}
