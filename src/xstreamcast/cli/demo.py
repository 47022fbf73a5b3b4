"""`xstreamcast demo`: what this is for, end to end, on a feed made on the spot."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import islice
from statistics import median
from textwrap import indent
from typing import Final, TypeVar
from xml.parsers import expat

from xstreamcast import query
from xstreamcast.cli import demo_spark
from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.cli.demo_spark import SECONDS
from xstreamcast.cli.moving import moving
from xstreamcast.cli.roads import feed
from xstreamcast.model.counted import counted

T = TypeVar("T")

CHUNK: Final = 1000  # bytes; cuts tags, entities and names anywhere

QUERIES: Final = (
    """count(//incident[@version > 1])""",
    """for $m in //incident
group by $id := xs:integer($m/@id)
let $last := $m[last()]
where $last/severity = 5 and $last/status = "open" and $last/cause = "ice &amp; snow"
order by count($m) descending, $id
return <avoid road="{$last/road}" km="{$last/road/@km}" corrections="{count($m) - 1}"/>""",
    """for tumbling window $w in //incident
  start when true()
  end $e next $n when hours-from-dateTime($e/@at) ne hours-from-dateTime($n/@at)
return <hour from="{$w[1]/@at}" messages="{count($w)}" worst="{max($w/severity)}"/>""",
)


def add_arguments(arguments: Parser) -> None:
    arguments.add_argument(
        "--runner", choices=("spark", "local"),
        help="continuous queries on Spark, or the local engine (default: spark if installed)",
    )  # fmt: skip
    arguments.add_argument(
        "--messages", type=int, default=40_000, help="local: size of the feed (40000)"
    )
    arguments.add_argument(
        "--seconds", type=float, default=SECONDS, help="spark: how long messages arrive (30)"
    )


def main(args: Parsed) -> int:
    if _on_spark(args.runner):
        return demo_spark.main(args.seconds)
    text = feed(args.messages)
    for title, lines in SCENES:
        _say(f"{title}\n")
        for line in lines(text):
            _say(indent(line, "  "))
        _say("")
    return 0


def _on_spark(runner: str | None) -> bool:
    """Whether the demo runs on Spark: as requested, else if it is installed."""
    if runner is None and find_spec("pyspark") is None:
        _say("Spark is not installed: the demo runs locally, in one process.")
        _say("pip install 'xstreamcast[spark]' adds it; then xstreamcast demo runs on Spark.\n")
        return False
    return runner != "local"


def _made(text: bytes) -> Iterator[str]:
    lines = text.decode().splitlines()
    yield f"{len(lines) - 3:,} messages, {len(text) / 1e6:.1f} MB; incident 1 is corrected at once"
    yield from (f"{line[:92]}…" if len(line) > 92 else line for line in lines[1:5])


def _reading(text: bytes) -> Iterator[str]:
    """Our reader compared with expat without handlers, the fastest parser Python brings along."""
    from xstreamcast.tape import read

    _, first = _timed(lambda: read(text))
    tape, ours = _timed(lambda: read(text), 5)
    _, theirs = _timed(lambda: expat.ParserCreate().Parse(text, True), 5)
    yield f"{len(tape):,} nodes in columns, no Python object per node"
    yield f"tape    {_speed(text, ours)}   (first time {first * 1e3:.0f} ms)"
    yield f"expat   {_speed(text, theirs)}   (checks the document, keeps nothing)"


def _arriving(text: bytes) -> Iterator[str]:
    from xstreamcast.tape import Reader

    reader = Reader("stream")
    pieces = [text[at : at + CHUNK] for at in range(0, 6 * CHUNK, CHUNK)]
    for number, piece in enumerate(pieces, 1):
        tape = reader.feed(piece)
        done = 0 if tape is None else len(tape.roots())
        yield f"chunk {number} of {CHUNK} bytes completes {counted(done, 'message')}"


def _asking(text: bytes) -> Iterator[str]:
    for expression in QUERIES:
        answer, took = _timed(partial(_answered, expression, text), 3)
        yield expression
        yield from (f"  → {line}" for line in islice(answer, 3))
        rest = f"{len(answer) - 3:,} more; " if len(answer) > 3 else ""
        yield f"  ({rest}{took * 1e3:.0f} ms, median of three, with reading the feed)\n"


def _answered(expression: str, text: bytes) -> list[str]:
    return list(query(expression).run(text).lines())


def _moving(text: bytes) -> Iterator[str]:
    return moving()


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


SCENES: Final[tuple[tuple[str, Callable[[bytes], Iterator[str]]], ...]] = (
    ("A feed of road incidents", _made),
    ("Reading it into a tape", _reading),
    ("The same feed as it arrives, cut anywhere", _arriving),
    ("Asking XQuery", _asking),
    ("A continuous query over messages that correct each other", _moving),
)
