"""`xstreamcast bench generate`: write a deterministic document of any size."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from bench import SEED, auction, bibliography, mapextract
from xstreamcast.cli.progress import amount, progress

KINDS: dict[str, Callable[[float, int], Iterator[str]]] = {
    "auction": auction.pieces,
    "bibliography": bibliography.pieces,
    "map": mapextract.pieces,
}
BATCH = 1 << 18


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=KINDS, help="what document")
    parser.add_argument("--factor", type=positive, default=1.0, help="size; 1 is about 100 MB")
    parser.add_argument("--seed", type=natural, default=SEED, help="another seed, another document")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="where to; - is stdout")


def main(args: argparse.Namespace) -> int:
    began = time.perf_counter()
    if args.output == "-":
        size = write(args.kind, args.factor, args.seed, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        with Path(args.output).open("wb") as sink:
            size = write(args.kind, args.factor, args.seed, sink)
    took = time.perf_counter() - began
    report = f"{args.kind}: {size / 1e6:.1f} MB in {took:.1f} s, {size / 1e6 / took:.0f} MB/s\n"
    sys.stderr.write(report)
    return 0


def write(kind: str, factor: float, seed: int, sink: BinaryIO) -> int:
    """Write the document and say how many bytes it has; memory holds one batch."""
    size = 0
    with progress(kind) as shown:
        for batch in batches(KINDS[kind](factor, seed)):
            size += sink.write(batch)
            shown.show(0, None, amount(size))
    return size


def batches(pieces: Iterator[str]) -> Iterator[bytes]:
    """The same text as UTF-8, in blocks that are worth a write."""
    held: list[str] = []
    length = 0
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        if length >= BATCH:
            yield "".join(held).encode()
            held, length = [], 0
    yield "".join(held).encode()


def positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be above 0; got {text}")
    return value


def natural(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must be 0 or more; got {text}")
    return value
