"""The tables: milliseconds of a new fragment and of a correction by number of units."""

import argparse
from dataclasses import dataclass, field
from typing import Literal

from bench.growth.entry import Entry
from bench.growth.measure import Found, Measured, Peer
from bench.machine import machine
from bench.tables import ABSENT, geometric_mean, markdown, ratio

Kind = Literal["new", "correction"]
KINDS: tuple[Kind, ...] = ("new", "correction")
SLACK = 100  # characters: longer numbers, one row more or less
ALLOWED = 1.5  # times the cost at the smallest size: what counts as not growing


@dataclass(frozen=True, slots=True)
class Row:
    """A query with what was measured of it, and why larger sizes are missing."""

    entry: Entry
    by_size: dict[int, Measured]
    ended: str = ""
    peers: dict[int, Peer] = field(default_factory=dict)
    peers_ended: str = ""

    def found(self) -> list[Found]:
        """All of it."""
        return [*self.by_size.values(), *self.peers.values()]

    def cells(self, sizes: list[int], kind: Kind) -> list[str]:
        """Milliseconds by size; the first size that was not reached says why."""
        missing = [size for size in sizes if size not in self.by_size]
        return [
            _ms(getattr(self.by_size[size], kind).ms) if size in self.by_size
            else self.ended if size == missing[0] else ABSENT
            for size in sizes
        ]  # fmt: skip

    def growth(self, sizes: list[int], kind: Kind) -> float | None:
        """How many times as much the largest size costs as the smallest."""
        if any(size not in self.by_size for size in (sizes[0], sizes[-1])):
            return None
        first, last = (getattr(self.by_size[size], kind).ms for size in (sizes[0], sizes[-1]))
        return float(last / max(first, 0.01))

    def beside(self, size: int) -> float | None:
        """How many times as much SaxonC-HE takes for one new fragment."""
        if size not in self.by_size or size not in self.peers:
            return None
        return self.peers[size].ms / max(self.by_size[size].new.ms, 0.01)

    def line(self, sizes: list[int]) -> str:
        """All of it in one line, for whoever waits."""
        new, correction = (" ".join(self.cells(sizes, kind)) for kind in KINDS)
        grown = "/".join(_times(self.growth(sizes, kind)) for kind in KINDS)
        return f"{self.entry.name}: new {new}, correction {correction} ms, growth {grown}"


def report(rows: list[Row], sizes: list[int], wrong: list[str], args: argparse.Namespace) -> str:
    """The tables, with what was left out and the machine below."""
    compared = UNCHECKED if args.unchecked else CHECKED.format(n=args.check_size)
    text = HEAD.format(rounds=args.rounds, limit=args.limit, compared=compared)
    text += "\n## A new fragment\n\n" + _table(rows, sizes, "new")
    text += "\n## A correction\n\n" + _table(rows, sizes, "correction")
    text += "\n" + _summary(rows, sizes)
    if any(row.peers or row.peers_ended for row in rows):
        text += PEERS + "\n" + _peers(rows, sizes)
    if wrong:
        text += f"\nNot measured, because answers differ: {', '.join(wrong)}.\n"
    return f"{text}\n{machine()}"


HEAD = """
Milliseconds of processor time from the bytes of one fragment to the changes of the answer, the
median of {rounds} after a warm-up, garbage collection aside, by the number of units that the
streams hold. *Growth* is the largest size over the smallest. *Changes* and *characters* are what
one such fragment changed in the answer, at the smallest and the largest size: where these grow,
time has to. Each query ran in a process of its own, for at most {limit} seconds of processor time
for a size. {compared}
"""
CHECKED = "Before, answers over {n} units were compared with a run afresh and with SaxonC-HE's."
UNCHECKED = "In this run answers were not compared before."


PEERS = """
## Beside recomputing

SaxonC-HE evaluates the query again over the materialised view, a tree that it has in memory, as a
program that recomputes would for each change (queries about time: their QaC+ translation, over the
fragments). That it also has to bring the change into its tree, or to parse all again, is in a
column of its own. Ours is one new fragment at the same size, in the same run.
"""


def _peers(rows: list[Row], sizes: list[int]) -> str:
    there = [size for size in sizes if any(size in row.peers for row in rows)]
    header = ["query"]
    for size in there:
        header += [f"{size:,}: ours ms", "SaxonC-HE ms", "its parsing ms", "SaxonC-HE / ours"]
    means = ["geometric mean"]
    for size in there:
        means += ["", "", "", ratio(geometric_mean(row.beside(size) for row in rows))]
    return markdown(header, [*(_peer_cells(row, there) for row in rows), means])


def _peer_cells(row: Row, sizes: list[int]) -> list[str]:
    cells = [row.entry.name]
    for size in sizes:
        peer, own = row.peers.get(size), row.by_size.get(size)
        cells += [
            ABSENT if own is None else _ms(own.new.ms),
            row.peers_ended or ABSENT if peer is None else _ms(peer.ms),
            ABSENT if peer is None else _ms(peer.parsing),
            ratio(row.beside(size)),
        ]
    return cells


def _table(rows: list[Row], sizes: list[int], kind: Kind) -> str:
    header = ["query", *(f"{size:,}" for size in sizes), "growth", "changes", "characters",
              "MB kept", "recomputed"]  # fmt: skip
    return markdown(header, [_cells(row, sizes, kind) for row in rows])


def _cells(row: Row, sizes: list[int], kind: Kind) -> list[str]:
    there = [row.by_size[size] for size in sizes if size in row.by_size]
    if not there:
        return [_title(row), *row.cells(sizes, kind), *[ABSENT] * 5]
    costs = [getattr(one, kind) for one in (there[0], there[-1])]
    return [
        _title(row),
        *row.cells(sizes, kind),
        _times(row.growth(sizes, kind)),
        _span(*(one.changes for one in costs)),
        _span(*(one.characters for one in costs)),
        f"{there[-1].state / 1e6:.1f}",
        "yes" if there[-1].recomputed else "no",
    ]


def _title(row: Row) -> str:
    return f"{row.entry.name}: {row.entry.what}"


def _summary(rows: list[Row], sizes: list[int]) -> str:
    """How many stay within the bound, and how many are recomputed."""
    flat = sum(_within(row, sizes) for row in rows)
    small = [row for row in rows if _is_small(row)]
    of_these = sum(_within(row, sizes) for row in small)
    whole = sum(any(one.recomputed for one in row.by_size.values()) for row in rows)
    return (
        f"From {sizes[0]:,} to {sizes[-1]:,} units, {flat} of {len(rows)} queries cost at most "
        f"{ALLOWED} times as much for both kinds of change, and {of_these} of the {len(small)} "
        f"whose changes stay as small. {whole} {'is' if whole == 1 else 'are'} recomputed whole.\n"
    )


def _within(row: Row, sizes: list[int]) -> bool:
    grown = [row.growth(sizes, kind) for kind in KINDS]
    return all(one is not None and one <= ALLOWED for one in grown)


def _is_small(row: Row) -> bool:
    """Whether a change of the answer is as long with many units as with few, as far as is known."""
    there = [row.by_size[size] for size in sorted(row.by_size)]
    ends = [(getattr(there[0], kind), getattr(there[-1], kind)) for kind in KINDS if there]
    return all(last.characters <= ALLOWED * first.characters + SLACK for first, last in ends)


def _ms(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _times(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.1f} ×" if value < 10 else f"{value:.0f} ×"


def _span(first: float, last: float) -> str:
    shown = [f"{value:,.0f}" for value in (first, last)]
    return shown[0] if shown[0] == shown[1] else " – ".join(shown)
