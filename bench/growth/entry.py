"""One query of the benchmark: its text, its streams, and what changes them."""

import re
from dataclasses import dataclass
from typing import Literal

from bench.growth.streams import Place, Streams, Unit

Quiet = Literal["", "new", "correction", "both"]
_STREAM = re.compile(r'stream\("(\w+)"\)')


@dataclass(frozen=True, slots=True)
class Entry:
    """A query with its streams, the unit that new fragments are and the one that is corrected.

    `plain` is the same query for a processor of XQuery 3.1, with `stream("s")` for the materialised
    view; None if the text is XQuery already. `translated`: it asks about time or versions, and is
    plain XQuery only by translation. `quiet`: which kind of change leaves the answer as it is.
    """

    name: str
    what: str
    query: str
    streams: Streams
    new: Unit
    fix: Unit
    place: Place = "middle"  # which units are corrected
    plain: str | None = None
    translated: bool = False
    quiet: Quiet = ""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the streams."""
        return tuple(stream.name for stream in self.streams)

    @property
    def xquery(self) -> str:
        """The query over views that are bound to variables of the streams' names."""
        text = _STREAM.sub(r"$\1", self.plain or self.query)
        declared = "".join(f"declare variable ${name} external;\n" for name in self.inputs)
        return declared + text

    def opening(self, n: int) -> dict[str, bytes]:
        """By stream, what is sent first."""
        return {stream.name: stream.opening(n) for stream in self.streams}

    def added(self, n: int, k: int) -> tuple[str, bytes]:
        """The k-th new fragment and its stream."""
        return self.new.stream, self.new.new(n, k)

    def corrected(self, n: int, k: int) -> tuple[str, bytes]:
        """The k-th correction and its stream."""
        return self.fix.stream, self.fix.correction(n, k, self.place)
