"""A process that measures one query at several sizes and writes a line for each.

It stands alone because a size may take too much: then it is ended, and only it.
"""

import resource
import sys

from bench.growth.catalogue import named
from bench.growth.entry import Entry
from bench.growth.measure import OUT_OF_MEMORY, measure, to_json
from bench.growth.saxon import recompute


def ours(entry: Entry, sizes: list[int], rounds: int, seconds: int, gigabytes: int) -> None:
    """A line for each size, behind an empty one that says that the first size begins."""
    # A state that explodes must not take the machine with it; memory, unlike time, may be
    # limited from inside without a change to what is measured.
    resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, resource.RLIM_INFINITY))
    measure(entry, 40, 2, seconds)  # what is compiled or loaded once
    _write("")
    for n in sizes:
        _write(to_json(measure(entry, n, rounds, seconds / 3)))


def theirs(entry: Entry, sizes: list[int]) -> None:
    """The same for SaxonC-HE, which reserves more address space than it uses."""
    recompute(entry, 40)
    _write("")
    for n in sizes:
        _write(to_json(recompute(entry, n)))


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(words: list[str]) -> int:
    """ours|theirs NAME ROUNDS SECONDS GIGABYTES SIZE…"""
    who, name, *numbers = words
    rounds, seconds, gigabytes, *sizes = map(int, numbers)
    try:
        if who == "ours":
            ours(named(name), sizes, rounds, seconds, gigabytes)
        else:
            theirs(named(name), sizes)
    except MemoryError:
        return OUT_OF_MEMORY
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
