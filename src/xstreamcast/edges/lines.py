"""Lines of JSON and records of CSV, written as XML while they come.

{"id": 7}   →  <map xmlns="…/xpath-functions"><number key="id">7</number></map>   (fn:json-to-xml)
7,open      →  <row><id>7</id><state>open</state></row>

A line that is invalid is reported with its reason; the others count.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from xstreamcast.errors import Error, error
from xstreamcast.functions.json.reading import events
from xstreamcast.functions.signature import FN
from xstreamcast.model.counted import counted
from xstreamcast.model.xml_names import NCNAME
from xstreamcast.tape.layout import I64, U8, frozen_bytes
from xstreamcast.tape.reading.csv_kernels import (
    AFTER_QUOTE,
    CONTROL,
    GOOD,
    OPEN_QUOTE,
    TOO_FEW,
    TOO_MANY,
    csv_to_xml,
)
from xstreamcast.tape.reading.json_kernels import DEEPEST, json_lines, marks

LineType = Literal["csv", "ndjson", "json"]
LONGEST: Final = 1 << 22  # bytes of one line
_BOM: Final = b"\xef\xbb\xbf"
_NAMESPACE: Final = f' xmlns="{FN}"'.encode()


@dataclass(frozen=True, slots=True)
class LineForm:
    """How lines are written: JSON texts, or CSV with named columns."""

    type: LineType
    columns: tuple[str, ...] = ()  # of CSV; without them the first record names them
    header: bool = True  # whether the first record of CSV holds names
    delimiter: str = ","


@dataclass(frozen=True, slots=True, eq=False)
class LinesAsXml:
    """Lines and the XML of those that are good.

    Line r is data[begins[r]:ends[r]], its XML ends at xml[writes[r]]; `reasons`: what is wrong.
    """

    data: bytes
    offset: int  # of the data in its input
    line: int  # number of its first line
    xml: U8
    begins: I64
    ends: I64
    writes: I64
    reasons: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.begins)

    @property
    def good(self) -> I64:
        """The lines that have XML."""
        bad = np.zeros(len(self), np.bool_)
        bad[list(self.reasons)] = True
        return np.flatnonzero(~bad)

    def raw(self, r: int) -> bytes:
        """The bytes of a line."""
        return self.data[int(self.begins[r]) : int(self.ends[r])]

    def number(self, r: int) -> int:
        """Which line of its input it begins in, from 1."""
        return self.line + self.data.count(b"\n", 0, int(self.begins[r]))


class LineProgress(NamedTuple):
    """Where in an input of lines a writer is: the beginning of a line, its position, whether
    the record with the names is to come, and which they are.
    """

    held: bytes
    offset: int
    line: int
    header: bool
    columns: tuple[str, ...]


class LineWriter:
    """One input of lines on its way in; `end_input` and the next may follow."""

    def __init__(self, form: LineForm, namespaced: bool = True) -> None:
        self.form = form
        self._write: Callable[[bytes, bool], tuple[LinesAsXml, int]] = (
            self._csv if form.type == "csv" else self._json
        )
        self._outer = frozen_bytes(_NAMESPACE if namespaced else b"")
        self._begin()

    def _begin(self) -> None:
        self._held, self._offset, self._line = b"", 0, 1
        self._header = self.form.type == "csv" and (self.form.header or not self.form.columns)
        self._columns = self.form.columns
        self._marks = None if not self._columns else _row_marks(self._columns)

    def progress(self) -> LineProgress:
        """Where in its input it is."""
        return LineProgress(self._held, self._offset, self._line, self._header, self._columns)

    def go_on(self, there: LineProgress) -> None:
        """Be where another writer was."""
        self._held, self._offset, self._line = there.held, there.offset, there.line
        self._header, self._columns = there.header, there.columns
        self._marks = None if not self._columns else _row_marks(self._columns)

    def feed(self, chunk: bytes) -> LinesAsXml | None:
        """The lines that a chunk completes; None if there are none."""
        data = self._held + chunk if self._held else chunk
        if self._offset == 0 and data.startswith(_BOM[: len(data)]) and len(data) < len(_BOM):
            self._held = data
            return None
        if self.form.type == "json" or (b"\n" not in chunk and len(data) < LONGEST):
            self._held = data
            return None
        return self._taken(data, False)

    def end_input(self) -> LinesAsXml | None:
        """The last line, which needs no line end; the next input starts from the beginning."""
        found = self._taken(self._held, True) if self._held else None
        self._begin()
        return found

    def _taken(self, data: bytes, final: bool) -> LinesAsXml | None:
        if self._offset == 0 and data.startswith(_BOM):
            data = data[len(_BOM) :]
            self._offset = len(_BOM)
        if self._header:
            data = self._without_header(data, final)
            if self._header:  # not all of it is there
                self._held = data
                return None
        written, used = self._write(data, final)
        if not used and len(data) >= LONGEST:
            written, used = self._write(data, True)  # a quote that is never closed, say
        self._held = data[used:]
        self._offset += used
        self._line += data.count(b"\n", 0, used)
        return written if len(written) else None

    # -- CSV --------------------------------------------------------------------------------------

    def _without_header(self, data: bytes, final: bool) -> bytes:
        """Read the names of the columns, and skip their record."""
        end = data.find(b"\n")
        if end < 0 and not final:
            return data
        end = len(data) if end < 0 else end + 1
        if not self.form.columns:
            self._columns = _named(data[:end], self.form.delimiter)
            self._marks = _row_marks(self._columns)
        self._header = False
        self._offset += end
        self._line += 1
        return data[end:]

    def _csv(self, data: bytes, final: bool) -> tuple[LinesAsXml, int]:
        heap = frozen_bytes(data)
        assert self._marks is not None
        text, starts = self._marks
        most = int(np.count_nonzero((heap == 10) | (heap == 13))) + 1
        special = int(np.count_nonzero((heap == 38) | (heap == 60) | (heap == 62) | (heap == 13)))
        out = np.empty(len(heap) + 4 * special + (most + 1) * len(text), np.uint8)
        begins, ends, writes = (np.empty(most, np.int64) for _ in range(3))
        fields, status, done = np.empty(most, np.int64), np.empty(most, np.uint8), np.zeros(3, "i8")
        csv_to_xml(
            heap, ord(self.form.delimiter), text, starts, final, out,
            begins, ends, writes, fields, status, done,
        )  # fmt: skip
        n, used, size = done.tolist()
        wanted = len(starts) - 2
        bad = np.flatnonzero(status[:n] != GOOD).tolist()
        reasons = {r: _csv_reason(int(status[r]), wanted, int(fields[r])) for r in bad}
        found = LinesAsXml(
            data, self._offset, self._line, out[:size], begins[:n], ends[:n], writes[:n], reasons
        )
        return found, used

    # -- JSON -------------------------------------------------------------------------------------

    def _json(self, data: bytes, final: bool) -> tuple[LinesAsXml, int]:
        used = len(data) if final else data.rfind(b"\n") + 1
        heap = frozen_bytes(data[:used])
        ends = np.flatnonzero(heap == 10)
        if used and (not len(ends) or ends[-1] != used - 1):
            ends = np.append(ends, used)
        if self.form.type == "json":  # all of it is one text
            ends = ends[-1:]
        begins = np.concatenate((np.zeros(1, np.int64), ends + 1))[: len(ends)]
        begins, ends = _without_blank(heap, begins, ends)
        out = np.empty(10 * len(heap) + len(begins) * (len(self._outer) + 40), np.uint8)
        writes, good = np.empty(len(begins), np.int64), np.empty(len(begins), np.uint8)
        text, starts = _JSON_MARKS
        depth = np.empty(DEEPEST, np.uint8)
        json_lines(heap, begins, ends, text, starts, self._outer, depth, out, writes, good)
        size = int(writes[-1]) if len(writes) else 0
        found = LinesAsXml(data, self._offset, self._line, out[:size], begins, ends, writes)
        for r in np.flatnonzero(good == 0).tolist():
            found.reasons[r] = _json_reason(found.raw(r))
        return found, used


def _without_blank(heap: U8, begins: I64, ends: I64) -> tuple[I64, I64]:
    """Lines that hold something: those that begin with white space are looked at one by one."""
    first = heap[np.minimum(begins, max(len(heap) - 1, 0))] if len(heap) else heap
    blank = (ends == begins) | (first <= 32)
    for r in np.flatnonzero(blank).tolist():
        blank[r] = not heap[begins[r] : ends[r]].tobytes().strip()
    return begins[~blank], ends[~blank]


def _json_reason(raw: bytes) -> str:
    """What is wrong with a line, as the reader of JSON in functions says it."""
    try:
        for _ in events(raw.decode("utf-8")):
            pass
    except UnicodeDecodeError as why:
        return f"no text in UTF-8: byte {why.start} of the line"
    except Error as why:
        return why.message.removeprefix("line 1, ")
    return f"brackets must not be open more than {DEEPEST} deep"


def _csv_reason(status: int, wanted: int, got: int) -> str:
    return {
        TOO_FEW: f"a record must have {counted(wanted, 'value')}; got {got}",
        TOO_MANY: f"a record must have {counted(wanted, 'value')}; got {got}",
        AFTER_QUOTE: "a delimiter or the end of the line must follow a closing quote",
        CONTROL: "a control character that XML does not have",
        OPEN_QUOTE: "a quote is never closed",
    }[status]


def _named(line: bytes, delimiter: str) -> tuple[str, ...]:
    """The columns that a first record names."""
    try:
        rows = list(csv.reader([line.decode("utf-8")], delimiter=delimiter))
    except UnicodeDecodeError as why:
        raise error("XSCX0002", f"line 1 is no text in UTF-8: byte {why.start}") from None
    return tuple(rows[0]) if rows else ()


def element_name(column: str, number: int) -> str:
    """The name of the element for a column: its own, with _ for what no name may hold."""
    name = "".join(c if NCNAME.fullmatch(f"a{c}") else "_" for c in column.strip())
    if not name:
        return f"c{number}"
    return name if NCNAME.fullmatch(name) else f"_{name}"


def _row_marks(columns: tuple[str, ...]) -> tuple[U8, I64]:
    """The text before each field and after the last, concatenated, and where each begins."""
    names = [element_name(column, k) for k, column in enumerate(columns, start=1)]
    parts = [f"<row><{names[0]}>"] if names else ["<row"]
    parts += [f"</{a}><{b}>" for a, b in pairwise(names)]
    parts.append(f"</{names[-1]}></row>\n" if names else "/>\n")
    texts = [one.encode() for one in parts]
    ends: Any = np.cumsum([0, *map(len, texts)])
    return frozen_bytes(b"".join(texts)), ends.astype(np.int64)


def _read_only_marks() -> tuple[U8, I64]:
    text, starts = marks()
    return frozen_bytes(text), starts


_JSON_MARKS: Final = _read_only_marks()
