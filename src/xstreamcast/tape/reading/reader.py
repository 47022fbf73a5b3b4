"""Reading XML in chunks of any size, cut anywhere: the same result as in one piece.

    mode "document"  feed … feed, close() → the tape
    mode "sequence"  the same, for documents one after another
    mode "stream"    feed(chunk) → the units that the chunk completed, or None; close() → None

What is read twice: a tag, comment, processing instruction or DOCTYPE that a chunk cuts, once its
end is there; a reference or UTF-8 sequence that a chunk cuts. Text is read on where it stopped.
An input that only expat can read (internal DTD subset, other encodings) is kept until close() in
the first two modes. A stream in another encoding is transcoded as it comes, and one with an
internal DTD subset is expanded; the offsets in errors are those of what comes of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xstreamcast.errors import Error, error
from xstreamcast.tape.layout import Tape, empty_columns, frozen_bytes
from xstreamcast.tape.limits import Limits, default_limits
from xstreamcast.tape.names import Names

if TYPE_CHECKING:
    from xstreamcast.tape.reading.units import UnitReading
    from xstreamcast.tape.reading.whole import WholeReading

MODES: Final = ("document", "sequence", "stream")


class Reader:
    """XML that arrives in chunks."""

    def __init__(
        self,
        mode: str = "document",
        *,
        unit_level: int = 1,
        limits: Limits | None = None,
        names: Names | None = None,
        name: str | None = None,
    ) -> None:
        if mode not in MODES:
            raise error("XSCU0005", f"mode must be one of {', '.join(MODES)}; got {mode!r}")
        if unit_level < 1:
            raise error("XSCU0005", f"unit_level must be 1 or more; got {unit_level}")
        self.names = Names() if names is None else names
        self.name = name
        self._closed = False
        self._refused: Error | None = None
        self._reading = _reading(mode, unit_level, limits or default_limits(), self.names, name)

    def feed(self, chunk: bytes | bytearray | memoryview) -> Tape | None:
        """Read a chunk → in mode stream, a tape of the units that it completed, if any."""
        self._check_open()
        if not isinstance(chunk, bytes | bytearray | memoryview):
            raise error("XSCU0005", f"a chunk must be bytes; got {type(chunk).__name__}")
        try:
            return self._reading.feed(bytes(chunk)) if len(chunk) else None
        except Error as refused:
            self._refused = refused
            raise

    def close(self) -> Tape | None:
        """End the input → the tape, or None in mode stream."""
        self._check_open()
        self._closed = True
        return self._reading.close()

    def _check_open(self) -> None:
        if self._closed:
            raise error("XSCU0005", "the reader is closed")
        if self._refused is not None:  # what follows an error has no meaning
            raise self._refused

    @property
    def root(self) -> Tape | None:
        """In mode stream, the root's start tag, once it is there: its name and attributes."""
        return getattr(self._reading, "root", None)

    def nothing(self) -> Tape:
        """A tape without rows."""
        return Tape(empty_columns(0, frozen_bytes(b"")), self.names, self.name)


def _reading(
    mode: str, unit_level: int, limits: Limits, names: Names, name: str | None
) -> UnitReading | WholeReading:
    """What does the work; imported here, because it needs the compiler."""
    from xstreamcast.tape.reading.units import UnitReading
    from xstreamcast.tape.reading.whole import WholeReading

    if mode == "stream":
        return UnitReading(unit_level, limits, names, name)
    return WholeReading(mode == "sequence", limits, names, name)
