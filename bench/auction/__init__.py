"""The auction document after XMark's published schema, proportions and sizes: factor 1 ≈ 100 MB."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd

from bench.auction.items import category, edge, item
from bench.auction.people import person
from bench.auction.prose import Prose
from bench.auction.sales import closed_auction, open_auction
from bench.dice import Dice

REGIONS = {
    "africa": 550,
    "asia": 2_000,
    "australia": 2_200,
    "europe": 6_000,
    "namerica": 10_000,
    "samerica": 1_000,
}
PERSONS, OPEN, CATEGORIES = 25_500, 12_000, 1_000
ITEMS = sum(REGIONS.values())


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of each there are; every item is in exactly one auction, open or closed."""

    regions: dict[str, int]
    items: int
    persons: int
    categories: int
    open: int
    closed: int

    @classmethod
    def of(cls, factor: float) -> "Counts":
        """The published counts times `factor`, at least one of each."""
        regions = {name: _times(factor, count) for name, count in REGIONS.items()}
        items = sum(regions.values())
        opened = (items * OPEN + ITEMS // 2) // ITEMS
        persons, categories = _times(factor, PERSONS), _times(factor, CATEGORIES)
        return cls(regions, items, persons, categories, opened, items - opened)


def pieces(factor: float, seed: int) -> Iterator[str]:
    """The document in pieces of a few kilobytes; nothing is kept between them."""
    counts = Counts.of(factor)
    yield '<?xml version="1.0" standalone="yes"?>\n<site>\n'
    yield from _regions(counts, seed)
    yield from _categories(counts, seed)
    yield from _people(counts, seed)
    yield from _auctions(counts, seed)
    yield "</site>\n"


def _regions(counts: Counts, seed: int) -> Iterator[str]:
    prose, number = Prose(seed, "items"), 0
    yield "<regions>\n"
    for region, count in counts.regions.items():
        yield f"<{region}>\n"
        for _ in range(count):
            yield item(prose, number, counts.categories)
            number += 1
        yield f"</{region}>\n"
    yield "</regions>\n"


def _categories(counts: Counts, seed: int) -> Iterator[str]:
    prose, n = Prose(seed, "categories"), counts.categories
    yield "<categories>\n"
    for number in range(n):
        yield category(prose, number)
    yield "</categories>\n<catgraph>\n"
    for _ in range(n):
        yield edge(prose.dice, n)
    yield "</catgraph>\n"


def _people(counts: Counts, seed: int) -> Iterator[str]:
    dice = Dice(seed, "people")
    yield "<people>\n"
    for number in range(counts.persons):
        yield person(dice, number, counts.categories, counts.open)
    yield "</people>\n"


def _auctions(counts: Counts, seed: int) -> Iterator[str]:
    prose, scattered = Prose(seed, "auctions"), _scattered(counts.items)
    yield "<open_auctions>\n"
    for number in range(counts.open):
        yield open_auction(prose, number, next(scattered), counts.persons)
    yield "</open_auctions>\n<closed_auctions>\n"
    for _ in range(counts.closed):
        yield closed_auction(prose, next(scattered), counts.persons)
    yield "</closed_auctions>\n"


def _scattered(n: int) -> Iterator[int]:
    """0 … n-1, each once, far from their order, without a list of them."""
    stride = n * 618 // 1000 + 1
    while gcd(stride, n) > 1:
        stride += 1
    return (number * stride % n for number in range(n))


def _times(factor: float, count: int) -> int:
    return max(1, int(factor * count + 1e-6))
