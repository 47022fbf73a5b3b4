"""One input of a running query: its pieces to arrivals of a watch."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from xstreamcast.edges.decoding import StreamDecoder, decoder_of, mark_codes
from xstreamcast.edges.immutable import ImmutableArrivals, TagPath
from xstreamcast.edges.inputs import Kind as Form
from xstreamcast.edges.inputs import kind_of
from xstreamcast.edges.sources import Burst, joined
from xstreamcast.edges.wire.decoder import Decoder, OnError
from xstreamcast.errors import DataPlace, error
from xstreamcast.model.fragment import Arrival, FragmentBatch, Refused
from xstreamcast.model.instant import START, show_instant
from xstreamcast.operators.forgetting.released_ids import is_worth, no_codes, take_back

if TYPE_CHECKING:
    from xstreamcast.edges.line_documents import BadLine, LineDocument
    from xstreamcast.edges.lines import LineForm
    from xstreamcast.edges.mapping.form import Mapping
    from xstreamcast.operators.watching.inputs import Kind
    from xstreamcast.operators.watching.network import Network
    from xstreamcast.operators.watching.watch import Watch
    from xstreamcast.tape.layout import I64

    Watched: TypeAlias = Watch | Network


_FIRST: Final = 4096  # bytes that show what an input is


class Arriving:
    """Documents arrive as bytes, streams of fragments in batches of at most `most`."""

    def __init__(
        self, name: str | None, head: bytes, most: int, mapping: Mapping | None = None,
        lines: LineForm | None = None,
    ) -> None:  # fmt: skip
        self.name, self._most, self._mapping = name, most, mapping
        self._lines = _lines_of(head, lines) if mapping is None else None
        if self._lines is not None:
            self.form: Form = "document"
        else:
            self.form = kind_of(head, name) if mapping is None else "fragments"
        if name is None and mapping is not None:
            raise error("XSCU0001", "a feed with a mapping must have a name", hint="-i NAME=SOURCE")
        if name is None and self.form in ("updates", "changes"):
            raise error(
                "XSCU0001", f"a stream of {self.form} must have a name", hint="-i NAME=SOURCE"
            )
        if name is None:
            self.form = "document"
        self.decoder: StreamDecoder | None = None
        self._on_error: OnError = "quarantine"
        self._kept: ImmutableArrivals | None = None
        self.files = 0
        self._begun = 0  # how many files had ended when the last document began
        self.of = 1  # files in all
        self.late = self.ahead = self.bytes = 0
        self._first: bytes | None = b""  # of a document, until markup comes

    @property
    def kind(self) -> Kind:
        """The kind of input, for the watch."""
        return "document" if self.form == "document" else "fragments"

    def begin(
        self,
        watch: Watched,
        on_error: OnError,
        immutable: tuple[TagPath, ...] = (),
        lateness: int | None = None,
    ) -> None:
        """Be ready for pieces."""
        self._on_error = on_error
        if self.kind == "fragments":
            name = str(self.name)
            self.decoder = decoder_of(
                self.form, name, watch.names, on_error, immutable, self._mapping, True, lateness
            )
            paths = tuple(path for path in immutable if path.stream in (None, name))
            if self.form == "fragments" and paths:
                self._kept = ImmutableArrivals(name, paths)

    def stamp(self, instant: int | None) -> int | None:
        """What comes next arrived then (None: now), where that may be its valid time → when."""
        if self._mapping is None:
            return None
        from xstreamcast.edges.mapping.decoder import MappingDecoder

        assert isinstance(self.decoder, MappingDecoder)
        self.decoder.arrived = time.time_ns() // 1000 if instant is None else instant
        return self.decoder.arrived

    @property
    def ignored(self) -> int:
        """How many revisions of what is immutable were left out."""
        if self._kept is not None:
            return self._kept.ignored
        return 0 if self.decoder is None else getattr(self.decoder, "ignored", 0)

    def take(self, piece: bytes, watch: Watched, limits: ArrivalLimits) -> Iterator[None]:
        """Hand a piece on; after each batch the watch may tick."""
        self.bytes += len(piece)
        if self._lines is not None:
            yield from self._hand_on_lines(self._lines.feed(piece), watch, limits)
            return
        if self.decoder is None:
            if self.files > self._begun:
                self._begun = self.files
                watch.on_next_document(self.name)
            self._look(piece)
            watch.on_bytes(self.name, piece)
            yield
            return
        self.decoder.more = self.files + 1 < self.of
        self._take_codes_back(watch)
        yield from self._hand_on(self.decoder.feed(piece), watch, limits)

    def _take_codes_back(self, watch: Watched) -> None:
        """Forget ids of which nothing is kept; all that was decoded has been processed."""
        assert self.decoder is not None
        ids = self.decoder.ids
        if self._kept is None and is_worth(ids):
            needed = no_codes(ids)
            if mark_codes(self.decoder, needed):
                take_back(watch, str(self.name), ids, needed)
            else:
                ids.kept = ids.texts

    def document_progress(self) -> dict[str, Any] | None:
        """Where in its documents it is; None of a stream of fragments."""
        if self.kind == "fragments":
            return None
        first = None if self._first is None else self._first.decode("latin-1")
        lines = None
        if self._lines is not None:
            begun, (held, *there) = self._lines.progress()
            lines = [begun, held.decode("latin-1"), *there]
        return {"begun": self._begun, "first": first, "lines": lines}

    def continue_document(self, there: dict[str, Any]) -> None:
        """Be where another one was."""
        from xstreamcast.edges.lines import LineProgress

        self._begun, first, lines = there["begun"], there["first"], there["lines"]
        self._first = None if first is None else first.encode("latin-1")
        if self._lines is not None and lines is not None:
            begun, held, offset, line, header, columns = lines
            self._lines.go_on(
                begun, LineProgress(held.encode("latin-1"), offset, line, header, tuple(columns))
            )

    def _look(self, piece: bytes) -> None:
        if self._first is not None:
            self._first = None if b"<" in piece else (self._first + piece)[:_FIRST]

    def take_messages(self, given: Burst, watch: Watched, limits: ArrivalLimits) -> None:
        """Hand messages on that came together; a mapping without levels reads them as one."""
        if self._mapping is not None and self._mapping.level is None:
            self._hand_on_messages(given, watch, limits)
            return
        for message in joined(given) if self.form == "fragments" else given:
            deque(self.take(message, watch, limits), maxlen=0)
            deque(self.end_file(watch, limits), maxlen=0)

    def _hand_on_messages(self, given: Burst, watch: Watched, limits: ArrivalLimits) -> None:
        from xstreamcast.edges.mapping.decoder import MappingDecoder
        from xstreamcast.edges.mapping.messages import Message

        assert isinstance(self.decoder, MappingDecoder)
        self.files += len(given)
        self.bytes += sum(map(len, given))
        self._take_codes_back(watch)
        found = self.decoder.messages([Message(one) for one in given])
        deque(self._hand_on(found, watch, limits), maxlen=0)

    def take_rows(
        self, rows: Any, watch: Watched, limits: ArrivalLimits, numbers: I64 | None = None
    ) -> None:
        """Hand fragments on that are rows of columns; `numbers`: what the rows are known by."""
        from xstreamcast.edges.table.scanning import taken_rows

        assert isinstance(self.decoder, Decoder)
        self._take_codes_back(watch)
        found = taken_rows(rows, self.decoder, numbers)
        deque(self._hand_on(found, watch, limits), maxlen=0)

    def end_file(self, watch: Watched, limits: ArrivalLimits) -> Iterator[None]:
        """One of the files has ended."""
        self.files += 1
        if self._lines is not None:
            yield from self._hand_on_lines(self._lines.end_input(), watch, limits)
        if self.decoder is not None:
            yield from self._hand_on(self.decoder.end_input(), watch, limits)

    def end(self, watch: Watched, limits: ArrivalLimits) -> Iterator[None]:
        """The input has ended; a document without any markup is none."""
        if self.decoder is None and self._lines is None and self._first is not None:
            _refuse_document(self._first, self.name)
        if self._lines is not None:
            watch.on_bytes(self.name, self._lines.close())
        if self.decoder is not None:
            yield from self._hand_on(self.decoder.close(), watch, limits)
            if isinstance(self.decoder, Decoder) and self.decoder.structure is None:
                raise error(
                    "XSCF0010", at=DataPlace(str(self.name)),
                    hint="a stream contains its own structure",
                )  # fmt: skip
        watch.on_end(self.name)
        yield

    def _hand_on_lines(
        self, found: tuple[bytes, list[BadLine]], watch: Watched, limits: ArrivalLimits
    ) -> Iterator[None]:
        """The XML of lines, and what was wrong with others."""
        xml, bad = found
        for one in bad:
            said = f"line {one.number}: {one.reason}"
            if self._on_error == "stop":
                raise error("XSCX0001", said, at=DataPlace(self.name or "input", None, one.offset))
            name = self.name or "input"
            limits.keep(Refused(name, None, one.offset, "XSCX0001", said, one.raw))
        if xml:
            watch.on_bytes(self.name, xml)
            yield

    def _hand_on(
        self, found: list[Arrival], watch: Watched, limits: ArrivalLimits
    ) -> Iterator[None]:
        assert self.decoder is not None
        for one in found:
            if isinstance(one, Refused):
                limits.keep(one)
                continue
            for timely in self._parts(one, watch, limits):
                part = timely if self._kept is None else self._kept.arriving(timely)
                watch.on_arrivals(str(self.name), [part], self.decoder.ids)
                yield

    def _parts(self, one: Arrival, watch: Watched, limits: ArrivalLimits) -> Iterator[Arrival]:
        if not isinstance(one, FragmentBatch):
            yield one
            return
        for first in range(0, len(one), self._most):
            part = one.some(np.arange(first, min(first + self._most, len(one))))
            yield self._in_time(part, watch, limits) if limits.any else part

    def _in_time(
        self, batch: FragmentBatch, watch: Watched, limits: ArrivalLimits
    ) -> FragmentBatch:
        """The fragments that are neither too late nor too far ahead; others are refused."""
        now, fits = watch.now.instant, np.ones(len(batch), np.bool_)
        for i, valid in enumerate(batch.valid.tolist()):
            known = now != START
            if known and limits.skew is not None and valid > now + limits.skew:
                fits[i] = False
                self.ahead += 1
                limits.keep(self._refused(batch, i, "XSCF0013"))
            elif known and limits.lateness is not None and valid < now - limits.lateness:
                fits[i] = False
                self.late += 1
                limits.keep(self._refused(batch, i, "XSCF0014"))
            else:
                now = max(now, valid)
        return batch if fits.all() else batch.some(fits)

    def _refused(self, batch: FragmentBatch, at: int, code: str) -> Refused:
        assert self.decoder is not None
        row, offset = int(batch.payload[at]), int(batch.offset[at])
        raw = b"" if row < 0 else batch.tape.serialize(int(batch.tape.columns.parent[row]))
        fragment = self.decoder.ids.text(int(batch.id[at]))
        why = "further ahead of now" if code == "XSCF0013" else "older than now by more"
        said = f"valid at {show_instant(int(batch.valid[at]))}, {why} than is allowed"
        place = (None, None) if batch.place is None else batch.place(offset)
        return Refused(str(self.name), fragment, offset, code, said, raw, *place)


def _refuse_document(head: bytes, name: str | None) -> None:
    """Say of an input without markup what `run` says of it."""
    from xstreamcast.tape.reading.reader import Reader

    reader = Reader(name=name)
    reader.feed(head)
    reader.close()


def _lines_of(head: bytes, form: LineForm | None) -> LineDocument | None:
    """What reads an input of lines: one that is called so, or begins with a line of JSON."""
    from xstreamcast.edges.line_documents import LineDocument, begins_with_json
    from xstreamcast.edges.lines import LineForm
    from xstreamcast.edges.updates.beginning import is_change_stream, is_update_stream

    if is_update_stream(head) or is_change_stream(head):
        return None
    if form is None and begins_with_json(head):
        form = LineForm("ndjson")
    return None if form is None else LineDocument(form)


class ArrivalLimits:
    """How old and how far ahead a valid time may be, and the callback for refused fragments."""

    def __init__(
        self,
        keep: Callable[[Refused], None],
        lateness: int | None = None,
        skew: int | None = None,
    ) -> None:
        self.keep, self.lateness, self.skew = keep, lateness, skew
        self.any = lateness is not None or skew is not None
