"""JSON, lines of JSON and CSV as documents, read whole or while they come.

A file is known by its suffix, also below .gz and .zst. JSON is the XML that fn:json-to-xml makes of
it; lines of JSON are one array of their values; CSV is rows, an element for each column:

    <csv><row><id>7</id><state>open</state></row>…</csv>
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.lines import LineForm, LineProgress, LinesAsXml, LineWriter
from xstreamcast.errors import error
from xstreamcast.functions.json.xml import document
from xstreamcast.functions.signature import FN

if TYPE_CHECKING:
    from xstreamcast.tape.store import Store

_FORMS: Final = {
    ".json": LineForm("json"),
    ".ndjson": LineForm("ndjson"),
    ".jsonl": LineForm("ndjson"),
    ".csv": LineForm("csv"),
    ".tsv": LineForm("csv", delimiter="\t"),
}
_ROOTS: Final = {
    "json": (b"", b""),
    "ndjson": (f'<array xmlns="{FN}">\n'.encode(), b"</array>"),
    "csv": (b"<csv>\n", b"</csv>"),
}
_ZIPPED: Final = frozenset({".gz", ".zst"})


def form_of(source: Any) -> LineForm | None:
    """The form that the suffix of a file says; None for XML and for what has no suffix."""
    if not isinstance(source, str | os.PathLike):
        return None
    suffixes = [one.lower() for one in Path(os.fspath(source)).suffixes]
    if suffixes and suffixes[-1] in _ZIPPED:
        suffixes.pop()
    return _FORMS.get(suffixes[-1]) if suffixes else None


def form_of_source(source: Any) -> LineForm | None:
    """The form of a file or pattern by its suffix, of a folder by that of its first file."""
    if isinstance(source, str | Path) and os.path.isdir(source):
        names = sorted(one for one in os.listdir(os.fspath(source)) if not one.startswith("."))
        return form_of(names[0]) if names else None
    return form_of(source)


def begins_with_json(head: bytes) -> bool:
    """Whether the first line of an input is JSON for itself."""
    line, ended, _ = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")
    if not ended or not line.startswith((b"{", b"[")):
        return False
    written = LineWriter(LineForm("ndjson")).feed(line + b"\n")
    return written is not None and not written.reasons


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is left out, and why."""

    number: int
    offset: int
    reason: str
    raw: bytes


class LineDocument:
    """A document whose root holds lines: bytes in, XML out, and what was wrong."""

    def __init__(self, form: LineForm) -> None:
        self._writer = LineWriter(form, namespaced=form.type == "json")
        self._begin, self._end = _ROOTS[form.type]

    def feed(self, chunk: bytes) -> tuple[bytes, list[BadLine]]:
        """The XML of the lines that a chunk completes."""
        return self._shown(self._writer.feed(chunk))

    def end_input(self) -> tuple[bytes, list[BadLine]]:
        """One file has ended: its last line."""
        return self._shown(self._writer.end_input())

    def close(self) -> bytes:
        """What ends the document."""
        begin, self._begin = self._begin, b""
        return begin + self._end

    def progress(self) -> tuple[bool, LineProgress]:
        """Whether the root is open, and where in its input it is."""
        return not self._begin, self._writer.progress()

    def go_on(self, begun: bool, there: LineProgress) -> None:
        """Be where another one was."""
        self._begin = b"" if begun else self._begin
        self._writer.go_on(there)

    def _shown(self, written: LinesAsXml | None) -> tuple[bytes, list[BadLine]]:
        if written is None:
            return b"", []
        begin, self._begin = self._begin, b""
        bad = [
            BadLine(written.number(r), written.offset + int(written.begins[r]), why, written.raw(r))
            for r, why in sorted(written.reasons.items())
        ]
        return begin + written.xml.tobytes(), bad


def read_lines(
    store: Store, form: LineForm, files: Iterable[str], chunks: Callable[[str], Iterator[bytes]]
) -> int:
    """The document node of some files, read whole; a line that is none is an error."""
    if form.type == "json":
        return _read_json(store, b"".join(chunk for path in files for chunk in chunks(path)))
    made, parts = LineDocument(form), []
    for path in files:
        for chunk in chunks(path):
            parts.append(_good(path, *made.feed(chunk)))
        parts.append(_good(path, *made.end_input()))
    return store.read(b"".join((*parts, made.close())))


def _good(path: str, xml: bytes, bad: list[BadLine]) -> bytes:
    if bad:
        one = bad[0]
        hint = "with a mapping such lines go to the quarantine: docs/feeds.md"
        raise error("XSCX0001", f"{path} line {one.number}: {one.reason}", hint=hint)
    return xml


def _read_json(store: Store, data: bytes) -> int:
    """By the kernel; what it refuses is read, or refused with its reason, by the function."""
    made = LineDocument(LineForm("json"))
    made.feed(data)
    xml, bad = made.end_input()
    if not bad and xml:
        return store.read(xml)
    try:
        return document(store, data.decode("utf-8-sig"))
    except UnicodeDecodeError as why:
        raise error("XSCX0002", f"JSON must be text in UTF-8; byte {why.start} is none") from None


__all__ = ["BadLine", "LineDocument", "begins_with_json", "form_of", "form_of_source", "read_lines"]
