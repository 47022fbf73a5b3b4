"""Fuzz target: mutated XML, read whole and in chunks, must be what expat makes of it.

    python -m tests.fuzz.read_xml --seconds 60 [--seed N] [file …]

With atheris installed, `--atheris` hands the target to it instead of the mutator below.
A finding is printed as a bytes literal, ready for a test.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from tests.tape.events import expat_events, tape_events, well_shaped
from tests.tape.strategies import SPLICED
from xstreamcast.errors import InputError
from xstreamcast.tape import Reader, Tape, read
from xstreamcast.tape.layout import ELEMENT, KIND

SEEDS = [
    b"<?xml version='1.0'?><!DOCTYPE a SYSTEM 'x'><a b='1' xmlns:p='u'><p:c p:d=''>&lt;</p:c></a>",
    b"<r xmlns='d'><!-- c --><u>1</u>\r\n<u a=''>\xc3\xa9</u><![CDATA[]]y]]><?p d?></r><!---->",
    "<é><名 ü='&#x1F600;'>\U0001f600</名><b/>text ]] > </é>".encode(),
    b"<!DOCTYPE a [<!ENTITY e '<b>x</b>'>]><a>&e;</a>",
    b"<log><e t='1' m='" + b"m" * 70 + b"'>" + b"v" * 70 + b"</e><e/><e>\t\n</e></log>",
]


def check(data: bytes, chance: random.Random) -> None:
    """Assert that the whole, and the chunks of it, are read as by expat."""
    expected = expat_events(data)
    whole = _tape(lambda: read(data))
    assert (whole is None) == (expected is None), "accepted by one, refused by the other"
    pieces = _cut(data, chance)
    chunked = _tape(lambda: _read_chunks(pieces))
    assert (chunked is None) == (expected is None), f"in chunks {pieces}"
    if whole is not None and chunked is not None:
        well_shaped(whole)
        well_shaped(chunked)
        assert tape_events(whole) == expected
        assert tape_events(chunked) == expected, f"in chunks {pieces}"
        if b"<!DOCTYPE" not in data:
            _check_units(whole, pieces)


def _check_units(whole: Tape, pieces: list[bytes]) -> None:
    """The units of the same bytes, read as a stream, are the children of the root."""
    c = whole.columns
    children = [
        row for row in range(len(whole)) if c.level[row] == 2 and c.kind[row] & KIND == ELEMENT
    ]
    reader = Reader("stream")
    tapes = [tape for piece in pieces if (tape := reader.feed(piece)) is not None]
    reader.close()
    found = [_inner(tape_events(tape, int(row))) for tape in tapes for row in tape.roots()]
    assert found == [_inner(tape_events(whole, row)) for row in children], f"in chunks {pieces}"
    for tape in tapes:
        well_shaped(tape)


def _inner(events: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Events without the namespace declarations of the unit itself: it inherits some."""
    return [events[0][:3], *events[1:]]


def _tape(make: Callable[[], Tape]) -> Tape | None:
    try:
        return make()
    except InputError:
        return None


def _read_chunks(pieces: list[bytes]) -> Tape:
    reader = Reader()
    for piece in pieces:
        reader.feed(piece)
    tape = reader.close()
    assert tape is not None
    return tape


def _cut(data: bytes, chance: random.Random) -> list[bytes]:
    size = chance.choice((1, 1, 2, 3, 5, 8, 17, 40, 100))
    return [data[at : at + size] for at in range(0, len(data), size)]


def mutate(data: bytes, chance: random.Random) -> bytes:
    """A few bytes gone, doubled, moved, changed or put in."""
    changed = bytearray(data)
    for _ in range(chance.randint(0, 4)):
        at, length = chance.randint(0, len(changed)), chance.choice((1, 1, 2, 4, 16))
        piece = changed[at : at + length]
        match chance.randrange(5):
            case 0:
                del changed[at : at + length]
            case 1:
                changed[at:at] = piece
            case 2 if piece:
                changed[at] = chance.randrange(256)
            case 3:
                to = chance.randint(0, len(changed))
                changed[to:to] = piece
            case _:
                changed[at:at] = chance.choice(SPLICED)
    return bytes(changed)


def run(seeds: list[bytes], seconds: float, seed: int) -> int:
    """Mutate until the time is over → 1 at the first finding."""
    chance, end, count = random.Random(seed), time.monotonic() + seconds, 0
    pool = list(seeds)
    while time.monotonic() < end:
        data = mutate(chance.choice(pool), chance)
        count += 1
        try:
            check(data, chance)
        except AssertionError as found:
            sys.stdout.write(f"seed {seed}, case {count}: {found}\n{data!r}\n")
            return 1
        if len(data) < 400 and chance.random() < 0.1:
            pool = [*seeds, *pool[len(seeds) :][-200:], data]
    sys.stdout.write(f"{count} cases, none found\n")
    return 0


def _atheris(seeds: list[bytes]) -> None:
    atheris = import_module("atheris")

    def one(data: bytes) -> None:
        check(data, random.Random(len(data)))

    atheris.Setup(sys.argv[:1], one)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 100_000)
    parser.add_argument("--atheris", action="store_true")
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    seeds = SEEDS + [path.read_bytes() for path in args.files]
    if args.atheris:
        _atheris(seeds)
    return run(seeds, args.seconds, args.seed)


if __name__ == "__main__":
    sys.exit(main())
