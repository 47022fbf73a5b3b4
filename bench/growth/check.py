"""No figure for a wrong answer: the running query beside the same run afresh, and SaxonC-HE."""

from dataclasses import dataclass

from bench.growth.driver import Followed, views
from bench.growth.entry import Entry
from bench.growth.saxon import Recomputing
from bench.peers import normalised
from xstreamcast.errors import Error

ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found: differences in words, none if all is well."""

    name: str
    differences: tuple[str, ...]


def check(entry: Entry, n: int, peers: bool = True) -> Checked:
    """Compare after each change with a run afresh, and at the end with SaxonC-HE."""
    try:
        return Checked(entry.name, tuple(_differences(entry, n, peers)))
    except Error as why:
        return Checked(entry.name, (str(why),))


def _differences(entry: Entry, n: int, peers: bool) -> list[str]:
    followed = Followed(entry)
    followed.feed(entry.opening(n))
    found = _compared(followed, "at first")
    news = corrections = 0
    for k in range(ROUNDS):
        news += followed.feed(dict([entry.added(n, k)]))
        found += _compared(followed, f"after new fragment {k}")
        corrections += followed.feed(dict([entry.corrected(n, k)]))
        found += _compared(followed, f"after correction {k}")
        if peers and k % 2 == 0:
            found += _beside(followed)
    if not news and entry.quiet not in ("new", "both"):
        found.append("no new fragment changes the answer: nothing is measured")
    if not corrections and entry.quiet not in ("correction", "both"):
        found.append("no correction changes the answer: nothing is measured")
    return found


def _compared(followed: Followed, when: str) -> list[str]:
    ours, afresh = followed.answer.items(), followed.afresh()
    return [] if ours == afresh else [f"{when}: {_first(ours, afresh)}"]


def _first(ours: list[str], theirs: list[str]) -> str:
    """The first item in which two answers differ."""
    pairs = zip([*ours, "(end)"], [*theirs, "(end)"], strict=False)
    at, (one, other) = next((i, pair) for i, pair in enumerate(pairs) if pair[0] != pair[1])
    return f"item {at + 1} is {one[:200]}, run afresh {other[:200]}"


def _beside(followed: Followed) -> list[str]:
    wires = followed.whole()
    trees = {} if followed.entry.translated else views(wires)
    theirs = normalised(Recomputing(followed.entry, trees, wires).answer())
    ours = normalised("\n".join(followed.answer.items()))
    return [] if ours == theirs else [f"SaxonC-HE: {theirs[:300]}, ours {ours[:300]}"]
