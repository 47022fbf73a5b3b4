"""A stream in another form (updates, changes, a feed) as a file of fragments that grows with it.

Such a stream can only be read from its beginning, by one reader that remembers. What it makes of it
is written down, each piece behind a line that says how much was read for it:

    <?took 4096?>  <stream:filler …  <?ended?>  …  <?over?>

A restart reads the same pieces and continues in the same file: it never changes, it grows.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, assert_never

from xstreamcast.edges.decoding import StreamDecoder, decoder_of
from xstreamcast.edges.wire.encoder import EOS, OPEN, batch_lines, heartbeat_line, structure_line
from xstreamcast.errors import error
from xstreamcast.model.fragment import (
    Arrival,
    Ended,
    FragmentBatch,
    Heartbeat,
    NewStructure,
    Refused,
)
from xstreamcast.tape.names import Names

if TYPE_CHECKING:
    from xstreamcast.edges.immutable import TagPath as Immutable
    from xstreamcast.edges.inputs import Kind
    from xstreamcast.edges.mapping.form import Mapping
    from xstreamcast.edges.wire.decoder import OnError

_STEP: Final = re.compile(rb"<\?(took (\d+)|ended|over)\?>\n")
_ENDED, _OVER = b"<?ended?>\n", b"<?over?>\n"

Pieces = Iterator[bytes | None]  # None: one file of several has ended; b"": nothing just now


class Transcript(threading.Thread):
    """Reads a stream and writes its fragments; `finish` when nothing more will come of it."""

    def __init__(
        self, name: str, kind: Kind, pieces: Pieces, path: Path, *,
        on_error: OnError = "quarantine", immutable: tuple[Immutable, ...] = (),
        keep: Callable[[Refused], None], mapping: Mapping | None = None,
    ) -> None:  # fmt: skip
        super().__init__(name=f"transcript of {name}", daemon=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        self.path = path
        self.failed: BaseException | None = None
        self.decoder: StreamDecoder = decoder_of(kind, name, Names(), on_error, immutable, mapping)
        self._name, self._pieces, self._keep = name, pieces, keep
        self._rest = b""  # of a piece that was read and has not been taken
        self._closed = threading.Event()

    def run(self) -> None:
        try:
            with open(self.path, "ab+", buffering=0) as file:
                self._again(file)
                for piece in self._coming():
                    if self._closed.is_set():
                        return
                    if piece is None:
                        self._write(file, _ENDED, self._said(self.decoder.end_input()))
                    elif piece:
                        said = b"<?took %d?>\n" % len(piece)
                        self._write(file, said, self._said(self.decoder.feed(piece)))
        except BaseException as failed:  # raised where the end is awaited
            self.failed = failed

    def finish(self) -> None:
        """End the stream and write the rest; a restart ignores this."""
        with open(self.path, "ab", buffering=0) as file:
            self._write(file, _OVER, self._said(self.decoder.close()))

    def close(self) -> None:
        self._closed.set()

    # -- what was written before ------------------------------------------------------------------

    def _again(self, file: BinaryIO) -> None:
        """Read what was read before, and complete what was written of it."""
        file.seek(0)
        if file.readline() != OPEN:
            file.truncate(0)
            file.write(OPEN)
            return
        while True:
            at = file.tell()
            step = _STEP.fullmatch(file.readline())
            if step is None or step[1] == b"over":
                file.truncate(at)
                return
            expected = self._step(None if step[2] is None else int(step[2]))
            there = file.read(len(expected))
            if not expected.startswith(there):
                raise error("XSCU0003", f"the input {self._name} has changed")
            if len(there) < len(expected):
                file.write(expected[len(there) :])
                return

    def _step(self, count: int | None) -> bytes:
        if count is None:
            self._rest = self._rest or next(self._pieces, None) or b""  # it may have grown since
            return self._said(self.decoder.end_input())
        held = self._rest
        while len(held) < count:
            piece = next(self._pieces, None)
            if piece is None:
                raise error("XSCU0003", f"the input {self._name} is shorter than it was")
            held += piece
        self._rest = held[count:]
        return self._said(self.decoder.feed(held[:count]))

    # -- what comes -------------------------------------------------------------------------------

    def _coming(self) -> Pieces:
        if self._rest:
            yield self._rest
        yield from self._pieces

    def _write(self, file: BinaryIO, said: bytes, made: bytes) -> None:
        file.write(said + made)
        os.fsync(file.fileno())

    def _said(self, found: list[Arrival]) -> bytes:
        return b"".join(line for one in found for line in self._lines(one))

    def _lines(self, one: Arrival) -> Iterator[bytes]:
        match one:
            case FragmentBatch():
                yield from batch_lines(one, self.decoder.ids)
            case NewStructure(structure):
                yield structure_line(structure)
            case Heartbeat(instant):
                yield heartbeat_line(instant)
            case Ended():
                yield EOS
            case Refused():
                self._keep(one)
            case _:
                assert_never(one)
