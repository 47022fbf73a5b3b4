"""Numbers of a query that is left running: a line of JSON at intervals, and one at the end.

{"time":"2026-11-15T09:00:00Z","now":"…","inputs":{"roads":{"bytes":…,"fragments":…,…}},…}
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.disk import GrowingFile
from xstreamcast.edges.updates.regions import EventCounts
from xstreamcast.errors import error
from xstreamcast.model.instant import NOW, START, show_instant
from xstreamcast.model.memory import resident_bytes
from xstreamcast.operators.watching.network import Network

if TYPE_CHECKING:
    from xstreamcast.edges.watching.arriving import Arriving, Watched
    from xstreamcast.edges.watching.run import Watching


@dataclass(slots=True)
class TickTimes:
    """How long ticks took, since the last line."""

    count: int = 0
    total: float = 0.0
    longest: float = 0.0

    def add(self, seconds: float) -> None:
        self.count += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)

    def facts(self) -> dict[str, float]:
        mean = self.total / self.count if self.count else 0.0
        return {"count": self.count, "mean": round(mean, 6), "longest": round(self.longest, 6)}


@dataclass(slots=True)
class Metrics:
    """Writes the numbers of a query to a file, or shows them, every so many seconds."""

    path: str | None
    every: float
    show: Callable[[dict[str, Any]], None] | None = None
    ticks: TickTimes = field(default_factory=TickTimes)
    _file: GrowingFile | None = None
    _due: float = 0.0

    def on_tick(self, watching: Watching, seconds: float) -> None:
        """A tick took so long; write a line if it is time."""
        self.ticks.add(seconds)
        if time.monotonic() >= self._due:
            self.write(watching)

    def write(self, watching: Watching) -> None:
        """Write a line now."""
        self._due = time.monotonic() + self.every
        numbers, self.ticks = measured(watching, self.ticks), TickTimes()
        if self.show is not None:
            self.show(numbers)
        if self.path is None:
            return
        if self._file is None:
            self._file = GrowingFile(self.path)
        self._file.add(json.dumps(numbers, separators=(",", ":")).encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def measured(watching: Watching, ticks: TickTimes) -> dict[str, Any]:
    """The numbers of a query, as JSON has them."""
    watch = watching.watch
    assert watch is not None
    wall, now = time.time_ns() // 1000, watch.now.instant
    known = now not in (START, NOW)
    held = state_bytes_of(watch)
    return {
        "time": show_instant(wall, zoned=True),
        "now": show_instant(now, zoned=True) if known else None,
        "lag_seconds": round((wall - now) / 10**6, 3) if known else None,
        "inputs": {str(name): _of_input(watch, one) for name, one in watching.arriving.items()},
        "refused": watching.refused,
        "changes": watching.emitted,
        "ticks": watching.ticked,
        "tick_seconds": ticks.facts(),
        "state_bytes": sum(held.values()),
        "state_bytes_of": held,
        "resident_bytes": resident_bytes(),
        "failing": [
            {"query": name or None, "code": why.code, "message": why.message}
            for name, why in watch.failures.items()
        ],
    }


def _of_input(watch: Watched, one: Arriving) -> Mapping[str, int]:
    return {
        "bytes": one.bytes,
        "arrived": _arrived(one),
        "repeated": watch.repeated(one.name),
        "unread": watch.unread(one.name),
        "orphaned": watch.orphans(one.name),
        "late": one.late,
        "ahead": one.ahead,
        "ignored": one.ignored,
    }


def _arrived(one: Arriving) -> int:
    """Fragments, messages or update events that came, refused ones included."""
    counts = None if one.decoder is None else one.decoder.counts
    if counts is None:
        return 0
    return counts.events if isinstance(counts, EventCounts) else counts.read


def state_bytes_of(watch: Watched) -> dict[str, int]:
    """About what each input and each operator of each query keeps, the largest first."""
    watches = watch.watches if isinstance(watch, Network) else {"": watch}
    found: dict[str, int] = {}
    for query, one in watches.items():
        at = f"{query}: " if query else ""
        for name, feed in one._feeds.items():
            found[f"{at}input {name or 'document'}"] = feed.state_bytes
        if one.pipeline is not None:
            found |= {f"{at}operator {name}": size for name, size in one.pipeline.held().items()}
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def refuse_memory(watching: Watching, most: int) -> None:
    """An error that names the largest holders, if the process holds more than it may."""
    held = resident_bytes()
    if held is None or held <= most or watching.watch is None:
        return
    largest = list(state_bytes_of(watching.watch).items())[:3]
    named = ", ".join(f"{name} {size:,}" for name, size in largest)
    raise error(
        "XSCD0003", f"the process holds {held:,} bytes, more than --max-memory {most:,}; "
        f"estimated state: {named}",
        hint="explain --stage circuit prints what is kept and why; with --checkpoint it continues "
        "when it is started again with a larger limit",
    )  # fmt: skip
