"""`xstreamcast demo`: what works today, end to end, on a feed made on the spot."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from statistics import median
from typing import Any, Final, TypeVar
from xml.parsers import expat

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.cli.roads import feed

T = TypeVar("T")

ON_ITS_WAY: Final = (
    "queries that keep running: answers are revised when an old message is corrected",
    "questions about the past: e?[t1,t2], e#[v1,v2], --as-of T",
    "the same plans on Spark",
)


@dataclass(frozen=True, slots=True)
class Scene:
    """One thing to show: the part it needs, and how it is shown."""

    title: str
    module: str
    name: str
    lines: Callable[[Any, bytes], Iterator[str]]

    def part(self) -> Any:
        """The function it shows; None while it is not built."""
        return getattr(import_module(self.module), self.name, None)


def add_arguments(arguments: Parser) -> None:
    arguments.add_argument("--messages", type=int, default=40_000, help="size of the feed")


def main(args: Parsed) -> int:
    text = feed(args.messages)
    _say(f"A feed of {args.messages:,} messages about road incidents, {len(text) / 1e6:.1f} MB:\n")
    for line in text.decode().splitlines()[1:5]:
        _say(f"  {line[:92]}…" if len(line) > 92 else f"  {line}")
    absent = [scene.title for scene in SCENES if not _shown(scene, text)]
    _say("\nNot there yet\n")
    for line in (*absent, *ON_ITS_WAY):
        _say(f"  {line}")
    return 0


def _shown(scene: Scene, text: bytes) -> bool:
    part = scene.part()
    if part is None:
        return False
    _say(f"\n{scene.title}\n")
    for line in scene.lines(part, text):
        _say(f"  {line}")
    return True


def _reading(read: Any, text: bytes) -> Iterator[str]:
    """Our reader beside expat without handlers, the fastest parser Python brings along."""
    _, first = _timed(lambda: read(text))
    tape, ours = _timed(lambda: read(text), 5)
    _, theirs = _timed(lambda: expat.ParserCreate().Parse(text, True), 5)
    yield f"{len(tape):,} nodes in columns, no Python object per node"
    yield f"tape    {_speed(text, ours)}   (first time {first * 1e3:.0f} ms: compiled or loaded)"
    yield f"expat   {_speed(text, theirs)}   (checks the document, keeps nothing)"


def _timed(work: Callable[[], T], times: int = 1) -> tuple[T, float]:
    """The last result and the median of the seconds it took."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        result = work()
        took.append(time.perf_counter() - began)
    return result, median(took)


def _speed(text: bytes, seconds: float) -> str:
    return f"{seconds * 1e3:7.1f} ms {len(text) / 1e6 / seconds:6.0f} MB/s"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


SCENES: Final = (Scene("Reading XML into a tape", "xstreamcast.tape", "read", _reading),)
