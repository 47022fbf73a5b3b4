"""What fuzz targets share: mutated bytes, chunks, a loop that counts, and the file of counts.

    python -m tests.fuzz.target wire --seconds 600 [--seed N] [--count]
    make fuzz TARGET=wire SECONDS=600

A finding is printed with its seed and case, so that it can be run again. `--count` adds the cases
to tests/fuzz/counts.json, with the seed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.fuzz.read_xml import mutate
from xstreamcast.errors import Error

COUNTS: Final = Path(__file__).parent / "counts.json"
NAMES: Final = (
    "wire", "mapped", "updates", "changes", "queries", "documents", "checkpoints", "tables",
)  # fmt: skip
Check = Callable[[random.Random], None]  # draws a case and checks it; AssertionError is a finding


class Finding(AssertionError):
    """A case that breaks the law, with what shows it."""

    def __init__(self, what: str, case: object) -> None:
        super().__init__(f"{what}\n{case!r}")


@contextmanager
def plain_errors(case: object) -> Iterator[None]:
    """Whatever is wrong with the input is an error for users, and not one of ours."""
    try:
        yield
    except Error as refused:
        if refused.code == "XSCB0001":
            raise Finding("an internal error", case) from refused
    except AssertionError:
        raise
    except Exception as broken:
        raise Finding(f"{type(broken).__name__}: {broken}", case) from broken


def cut(data: bytes, chance: random.Random) -> list[bytes]:
    """The same bytes in chunks."""
    size = chance.choice((1, 2, 3, 7, 20, 100, 1000))
    return [data[at : at + size] for at in range(0, len(data), size)]


def spliced(lines: list[bytes], chance: random.Random) -> bytes:
    """Lines, some of them left out, repeated, in another order, or mutated."""
    out = []
    for line in lines:
        out += [line] * chance.choice((0, 1, 1, 1, 1, 1, 1, 1, 2))
    if chance.random() < 0.3:
        chance.shuffle(out)
    return b"".join(mutate(line, chance) if chance.random() < 0.15 else line for line in out)


def target(name: str, folder: Path) -> Check:
    """The check of a target; the folder is its own."""
    found: Check = import_module(f"tests.fuzz.fuzz_{name}").begin(folder)
    return found


def run(check: Check, seed: int, seconds: float = 0.0, cases: int = 0) -> int:
    """Check cases until the time is over, or so many → how many; the first finding is raised."""
    end, count = time.monotonic() + seconds, 0
    while count < cases or time.monotonic() < end:
        count += 1
        try:
            check(random.Random(f"{seed}.{count}"))
        except AssertionError as found:
            found.add_note(f"seed {seed}, case {count}")
            raise
    return count


def add_to_counts(name: str, seed: int, count: int) -> None:
    """Note that so many cases were checked."""
    known: dict[str, Any] = json.loads(COUNTS.read_text("utf-8")) if COUNTS.exists() else {}
    entry = known.setdefault(name, {"cases": 0, "seeds": []})
    entry["cases"] += count
    entry["seeds"] = [*entry["seeds"], seed]
    COUNTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--count", action="store_true")
    args = parser.parse_args()
    with TemporaryDirectory() as folder:
        count = run(target(args.name, Path(folder)), args.seed, args.seconds)
    sys.stdout.write(f"{args.name}, seed {args.seed}: {count} cases, none found\n")
    if args.count:
        add_to_counts(args.name, args.seed, count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
