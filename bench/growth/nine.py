"""The nine queries of the XFlux paper, left running over fragments."""

import re

from bench.growth.auction import AUCTION, EUROPEAN, ITEMS
from bench.growth.entry import Entry, Quiet
from bench.growth.papers import BIBLIOGRAPHY, PAPERS
from bench.growth.streams import Unit
from bench.queries import nine

UNITS: dict[str, tuple[str, Unit]] = {
    "p1": ("descendants with a predicate", EUROPEAN),
    "p2": ("two predicates", ITEMS),
    "p3": ("any element with a predicate", ITEMS),
    "p4": ("parents, counted", ITEMS),
    "p5": ("ancestors of one name, counted", EUROPEAN),
    "p6": ("all below all ancestors, counted", ITEMS),
    "p7": ("one element around all results", ITEMS),
    "p8": ("papers of an author", PAPERS),
    "p9": ("papers of an author ordered by year", PAPERS),
}
# Six regions have been counted since the beginning; what is below them is counted in any case.
QUIET: dict[str, Quiet] = {"p4": "both", "p5": "both", "p6": "correction"}
_FROM_THE_ROOT = re.compile(r"(?<![\w*\])])//")


def _text(name: str, text: str) -> str:
    stream = UNITS[name][1].stream
    return _FROM_THE_ROOT.sub(f'stream("{stream}")//', text)


NINE = tuple(
    Entry(
        f"nine {one.name[1:]}", UNITS[one.name][0], _text(one.name, one.text),
        AUCTION if one.kind == "auction" else BIBLIOGRAPHY,
        UNITS[one.name][1], UNITS[one.name][1], quiet=QUIET.get(one.name, ""),
    )
    for one in nine()
)  # fmt: skip
