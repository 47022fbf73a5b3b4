"""A process that measures one query at several sizes and writes a line for each.

It stands alone because a size may take too much processor time: then the system ends it.
"""

import resource
import sys
import time

from bench.growth.catalogue import named
from bench.growth.entry import Entry
from bench.growth.measure import measure


def serve(entry: Entry, sizes: list[int], rounds: int, limit: int) -> None:
    """Write a line for each size; a size that takes more processor time than `limit` ends it."""
    measure(entry, 40, 2, limit)  # what is compiled or loaded once
    for n in sizes:
        used = int(time.process_time())
        resource.setrlimit(resource.RLIMIT_CPU, (used + limit + 1, resource.RLIM_INFINITY))
        sys.stdout.write(measure(entry, n, rounds, limit / 3).to_json() + "\n")
        sys.stdout.flush()


def main(words: list[str]) -> None:
    """NAME ROUNDS LIMIT SIZE…"""
    name, rounds, limit, *sizes = words
    serve(named(name), [int(size) for size in sizes], int(rounds), int(limit))


if __name__ == "__main__":
    main(sys.argv[1:])
