"""Cost per arrival of a running join, for inputs of different sizes: it must not grow."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator

from xstreamcast.api import compiled
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.operators.watching.watch import Watch

PAIRS = (
    'for $a in stream("a")/r/u, $b in stream("b")/r/u where $a/k = $b/k '
    "return <p>{ $a/v, $b/v }</p>"
)
COUNTS = (
    'for $a in stream("a")/r/u let $b := stream("b")/r/u[k = $a/k] '
    "return <p>{ $a/v, count($b) }</p>"
)
STRUCTURE = (
    '<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>'
    '<tag id="1" name="r" type="snapshot"><tag id="2" name="u" type="temporal">'
    '<tag id="3" name="k" type="snapshot"/><tag id="4" name="v" type="snapshot"/>'
    "</tag></tag></stream:structure>"
)


def unit(key: int, value: int) -> str:
    return f"<u><k>{key}</k><v>{value}</v></u>"


def documents(size: int) -> tuple[bytes, Iterator[bytes]]:
    """A document that has `size` units, and one unit more at a time."""
    head = "<r>" + "".join(unit(i, i) for i in range(size))
    return head.encode(), (unit(i % size, -i).encode() for i in range(1 << 30))


def fragments(size: int) -> tuple[bytes, Iterator[bytes]]:
    """A stream of `size` units, and one correction at a time."""
    holes = "".join(f'<stream:hole id="{i + 1}" tsid="2"/>' for i in range(size))
    head = [STRUCTURE, filler(0, 1, 0, f"<r>{holes}</r>")]
    head += [filler(i + 1, 2, 0, unit(i, i)) for i in range(size)]
    more = (filler(1 + (i * 7) % size, 2, 1 + i, unit((i * 7) % size, -i)) for i in range(1 << 30))
    return "".join(head).encode(), (one.encode() for one in more)


def filler(number: int, tag: int, second: int, payload: str) -> str:
    minutes, seconds = divmod(second, 60)
    when = f"2020-01-01T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
    head = f'id="{number}" tsid="{tag}" validTime="{when}"'
    return f"<stream:filler {head}>{payload}</stream:filler>"


def measured(query: str, kind: str, size: int, rounds: int) -> tuple[float, float, float, int]:
    """Milliseconds of CPU per arrival on a and on b; seconds to begin; units asked per arrival."""
    made = documents if kind == "document" else fragments
    watch = Watch(compiled(query), {"a": kind, "b": kind})  # type: ignore[dict-item]
    decoders = {name: Decoder(name, names=watch.names) for name in "ab"}
    inputs = {name: made(size) for name in "ab"}

    def feed(name: str, chunk: bytes) -> None:
        if kind == "document":
            watch.on_bytes(name, chunk)
        else:
            watch.on_arrivals(name, decoders[name].feed(chunk), decoders[name].ids)

    began = time.perf_counter()
    for name in "ab":
        feed(name, inputs[name][0])
    watch.tick()
    start = time.perf_counter() - began
    assert watch.pipeline is not None
    before = watch.pipeline.evaluated
    taken: dict[str, list[float]] = {"a": [], "b": []}
    for _ in range(rounds):
        for name in "ab":
            chunk = next(inputs[name][1])
            began = time.process_time()  # others may be at work on this machine
            feed(name, chunk)
            watch.tick()
            taken[name].append(time.process_time() - began)
    asked = (watch.pipeline.evaluated - before) // (2 * rounds)
    a, b = (1000 * statistics.median(taken[name]) for name in "ab")
    return a, b, start, asked


def main() -> None:
    reading = argparse.ArgumentParser(description=__doc__)
    reading.add_argument("sizes", nargs="*", type=int, default=[1_000, 10_000, 50_000])
    reading.add_argument("--rounds", type=int, default=50)
    told = reading.parse_args()
    out = sys.stdout
    out.write("query   kind       units  ms/arrival a  ms/arrival b  s to begin  asked/arrival\n")
    for name, query in (("pairs", PAIRS), ("counts", COUNTS)):
        for kind in ("document", "fragments"):
            for size in told.sizes:
                a, b, start, asked = measured(query, kind, size, told.rounds)
                out.write(
                    f"{name:7} {kind:9} {size:6} {a:13.2f} {b:13.2f} {start:11.1f} {asked:14}\n"
                )


if __name__ == "__main__":
    main()
