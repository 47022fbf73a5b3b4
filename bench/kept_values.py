"""`xstreamcast bench kept_values`: queries over a table with and without `xstreamcast index`.

Processor time of one process that reads the table once the guide of the table is there.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp

from bench.generate import natural
from xstreamcast import query
from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.table.values.indexing import index

PATHS = ("//event/severity", "//event/@id", "//event/at")
QUERIES = {
    "one id": 'stream("s")//event[@id = "i4711"]/what/text()',
    "the last minutes": 'count(stream("s")//event[at >= xs:dateTime("{last}")])',
    "1 in 100": 'count(stream("s")//event[severity >= 99])',
    "1 in 10": 'for $e in stream("s")//event where $e/severity >= 90 return $e/@id',
    "1 in 2": 'count(stream("s")//event[severity >= 50])',
}
_WORDS = ("road", "closed", "accident", "queue", "lane", "works", "bridge", "north", "delay")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--megabytes", type=natural, default=300, help="of events (default: 300)")
    parser.add_argument("--rounds", type=natural, default=3, help="the best one counts")


def main(args: argparse.Namespace) -> int:
    folder = Path(mkdtemp(prefix="xstreamcast-values-"))
    try:
        sys.stdout.write("\n".join(_measured(folder, args.megabytes, args.rounds)) + "\n")
    finally:
        shutil.rmtree(folder)
    return 0


def _measured(folder: Path, megabytes: int, rounds: int) -> Iterator[str]:
    events = megabytes << 10
    (folder / "s.xml").write_text("".join(_stream(events)))
    table = folder / "table"
    ingest(folder / "s.xml", table, stream="s")
    texts = {name: text.replace("{last}", _at(events - 500)) for name, text in QUERIES.items()}
    without = {name: _best(text, table, rounds) for name, text in texts.items()}
    began = time.process_time()
    index(table, PATHS)
    yield f"{events:,} events, {megabytes} MB; `index` took {time.process_time() - began:.1f} s"
    size = sum(path.stat().st_size for path in (table / "_index").iterdir())
    whole = sum(path.stat().st_size for path in (table / "stream=s").rglob("*.parquet"))
    yield f"values take {size / 1e6:.1f} MB, the files of the table {whole / 1e6:.1f} MB\n"
    yield "| query | without s | with s | ratio |"
    yield "| ----- | --------: | -----: | ----: |"
    for name, text in texts.items():
        answer, took = _best(text, table, rounds)
        assert answer == without[name][0], name
        plain = without[name][1]
        yield f"| {name} | {plain:.2f} | {took:.2f} | {plain / took:.1f} |"


def _best(text: str, table: Path, rounds: int) -> tuple[list[str], float]:
    found, times = list[str](), []
    for _ in range(rounds):
        began = time.process_time()
        found = list(query(text).run(s=f"table:{table}").lines())
        times.append(time.process_time() - began)
    return found, min(times)


def _at(second: int) -> str:
    return (datetime(2026, 1, 1) + timedelta(seconds=second)).isoformat() + "Z"


def _stream(events: int) -> Iterator[str]:
    dice = random.Random(7)
    yield '<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>'
    yield '<tag id="1" name="log"><tag id="2" name="event" type="event"/></tag></stream:structure>'
    yield '<stream:filler id="0" tsid="1" validTime="2026-01-01"><log>'
    yield from (f'<stream:hole id="e{n}" tsid="2"/>' for n in range(events))
    yield "</log></stream:filler>\n"
    for n in range(events):
        at = _at(n)
        text = " ".join(dice.choices(_WORDS, k=140))
        yield f'<stream:filler id="e{n}" tsid="2" validTime="{at}"><event id="i{n}">'
        yield f"<severity>{dice.randrange(100)}</severity><at>{at}</at><what>{text}</what>"
        yield "</event></stream:filler>\n"
    yield "</stream:fragments>\n"
