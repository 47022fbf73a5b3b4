"""xstreamcast tune: receive a broadcast, and write each of its fragments once."""

from __future__ import annotations

import sys
import time
from typing import Any, BinaryIO

from xstreamcast.cli.arguments import Parsed, Parser, at_least_one
from xstreamcast.cli.fragment import output
from xstreamcast.edges.durations import micros
from xstreamcast.model.counted import counted


def add_arguments(parser: Parser) -> None:
    """What the command understands."""
    parser.add_argument(
        "source", metavar="ADDRESS",
        help="ws://HOST:PORT/NAME, http://HOST:PORT/NAME, tcp://HOST:PORT, mqtt://HOST/TOPIC/#",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="write to this file instead of stdout"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="stop after N fragments")
    parser.add_argument("--for", dest="seconds", metavar="30s", help="stop after this duration")


def main(arguments: Parsed) -> int:
    """Write a stream of fragments that any other command reads."""
    seconds = micros(arguments.seconds)
    until = None if seconds is None else time.monotonic() + seconds / 10**6
    limit = None if arguments.limit is None else at_least_one("--limit", arguments.limit)
    with output(arguments.output) as out:
        tuned = Tuned(out, limit)
        try:
            tuned.listen(arguments.source, until)
        finally:
            tuned.close()
        tuned.report()
    return 0


class Tuned:
    """A listener: repetitions and what does not fit are counted, the rest is written."""

    def __init__(self, out: BinaryIO, limit: int | None) -> None:
        self._out, self._limit = out, limit
        self._seen: dict[tuple[int, int], int] = {}
        self.written = self.repeated = self.refused = 0
        self._begun = False

    def listen(self, source: str, until: float | None) -> None:
        from xstreamcast.edges.sources import is_place
        from xstreamcast.edges.watching.pieces import pieces
        from xstreamcast.edges.wire.decoder import Decoder

        decoder = Decoder("tuned")
        follow = is_place(source)  # a file holds what was received before, and ends
        for piece in pieces(source, follow=follow, patience=lambda: 0.1):
            for arrival in decoder.end_input() if piece is None else decoder.feed(piece):
                self._take(arrival, decoder.ids)
            over = decoder.ended or (until is not None and time.monotonic() >= until)
            if over or (self._limit is not None and self.written >= self._limit):
                return

    def _take(self, arrival: Any, ids: Any) -> None:
        from xstreamcast.edges.wire.encoder import EOS, OPEN, heartbeat_line, structure_line
        from xstreamcast.model.fragment import (
            Ended,
            FragmentBatch,
            Heartbeat,
            NewStructure,
            Refused,
        )

        if not self._begun:
            self._begun = True
            self._out.write(OPEN)
        match arrival:
            case FragmentBatch():
                self._batch(arrival, ids)
            case NewStructure(structure):
                self._out.write(structure_line(structure))
            case Heartbeat(instant):
                self._out.write(heartbeat_line(instant))
            case Ended():
                self._out.write(EOS)
            case Refused():
                self.refused += 1
                sys.stderr.write(f"refused: {arrival}\n")
        self._out.flush()

    def _batch(self, batch: Any, ids: Any) -> None:
        from dataclasses import replace

        import numpy as np

        from xstreamcast.edges.wire.encoder import batch_lines
        from xstreamcast.model.fragment import REPEATED

        plain = replace(batch, flags=batch.flags & np.uint8(255 - REPEATED))
        keys = zip(batch.id.tolist(), batch.valid.tolist(), strict=True)
        for key, line in zip(keys, batch_lines(plain, ids), strict=True):
            if self._seen.get(key) == hash(line):
                self.repeated += 1
            elif self._limit is None or self.written < self._limit:
                self._seen[key] = hash(line)
                self.written += 1
                self._out.write(line)

    def close(self) -> None:
        from xstreamcast.edges.wire.encoder import CLOSE

        if self._begun:
            self._out.write(CLOSE)

    def report(self) -> None:
        """What was received, in a line."""
        said = [counted(self.written, "fragment")]
        said += [f"{self.repeated} repeated"] if self.repeated else []
        said += [f"{self.refused} refused"] if self.refused else []
        sys.stderr.write(", ".join(said) + "\n")
