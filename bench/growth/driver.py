"""The one file that knows how a query is left running: bytes of streams in, changes out."""

from collections.abc import Mapping
from typing import Any

from bench.growth.entry import Entry
from xstreamcast import query
from xstreamcast.api import compiled
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.edges.wire.encoder import CLOSE
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.watching.watch import Watch


class Running:
    """A query over streams of fragments that is kept up to date, tick by tick."""

    def __init__(self, entry: Entry) -> None:
        self.watch = Watch(compiled(entry.query), dict.fromkeys(entry.inputs, "fragments"))
        self.decoders = {name: Decoder(name, names=self.watch.names) for name in entry.inputs}

    def feed(self, chunks: dict[str, bytes]) -> list[Change]:
        """Take in what has come on some streams → the changes of the answer."""
        for name, chunk in chunks.items():
            decoder = self.decoders[name]
            self.watch.on_arrivals(name, decoder.feed(chunk), decoder.ids)
        return self.watch.tick()

    @property
    def state_bytes(self) -> int:
        """About what is kept."""
        return self.watch.state_bytes

    @property
    def recomputed(self) -> bool:
        """Whether the query, or what is left of it above its parts, reads streams whole."""
        running = self.watch.pipeline
        assert running is not None
        return isinstance(running, CircuitRun) and bool(running.circuit.whole)


class Followed:
    """A running query, the answer that its changes add up to, and all that it was given."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.running = Running(entry)
        self.answer = Accumulated()
        self.wires = dict.fromkeys(entry.inputs, b"")

    def feed(self, chunks: dict[str, bytes]) -> int:
        """Take in what has come → how many changes it made."""
        for name, chunk in chunks.items():
            self.wires[name] += chunk
        changes = self.running.feed(chunks)
        for change in changes:
            self.answer.apply(change)
        return len(changes)

    def whole(self) -> dict[str, bytes]:
        """By stream, everything that has come, as a document of fragments."""
        return {name: wire + CLOSE for name, wire in self.wires.items()}

    def afresh(self) -> list[str]:
        """The same query run once over all that has come."""
        return _run(self.entry.query, self.whole())


def views(wires: Mapping[str, bytes]) -> dict[str, str]:
    """By stream, the materialised view of everything that has come, as XML."""
    return {name: "".join(_run(f'stream("{name}")', {name: wire})) for name, wire in wires.items()}


def _run(text: str, inputs: Mapping[str, Any]) -> list[str]:
    return list(query(text).run(**inputs).lines())
