"""The keys of groups of which nothing else is kept."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from xstreamcast.operators.relational.groups.known_groups import KnownGroups
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter


def write_known(to: TableWriter, at: str, known: KnownGroups) -> None:
    """The rests of keys once, the first parts once, and the numbers of the rests of each."""
    counts = np.fromiter(map(len, known.by_first.values()), np.int64, len(known.by_first))
    numbers = np.fromiter(chain.from_iterable(known.by_first.values()), np.int32, int(counts.sum()))
    to.values(f"{at}.rests", rest=list(known.rests))
    to.values(f"{at}.firsts", first=list(known.by_first))
    to.arrays(f"{at}.counts", {"count": counts})
    to.arrays(f"{at}.numbers", {"number": numbers})


def read_known(source: TableReader, at: str, known: KnownGroups) -> None:
    """The same keys again."""
    if f"{at}.rests" not in source:  # an older snapshot has each key
        for key in source.values(at, "group")[0]:
            known.add(key)
        return
    (rests,), (firsts,) = (
        source.values(f"{at}.rests", "rest"),
        source.values(f"{at}.firsts", "first"),
    )
    counts = source.arrays(f"{at}.counts")["count"].tolist()
    numbers = source.arrays(f"{at}.numbers")["number"].tolist()
    each = chain.from_iterable(map(repeat, firsts, counts))
    known.fill(rests, zip(each, numbers, strict=True))
