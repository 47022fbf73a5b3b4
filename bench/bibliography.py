"""A bibliography after DBLP's shape: flat records, many authors, factor 1 ≈ 100 MB."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from bench.days import DATES
from bench.dice import Dice, geometric, mostly, zipf
from bench.words import FIRST_NAMES, phrase, surnames

RECORDS = 245_000
VENUES = 400
YEARS = range(1970, 2025)
PAPERS = geometric(44)
AUTHORS = (1, 1, 2, 2, 2, 3, 3, 3, 4, 5)
HALF_A_TITLE = (2, 2, 3, 3, 4, 5, 6)
INITIALS = ("", "", "", "", " A.", " B.", " E.", " J.", " K.", " M.", " R.", " W.")
# Names that need more than ASCII, and the particles that come before some of them.
ACCENTED = ("Müller", "Gómez", "Lefèvre", "Šimek", "Þórsson", "Øster", "Żak", "Çelik", "O'Brien")
PARTICLES = mostly("", 94, ("van ", "de ", "von "))
# What the published queries look for: one author in 300 is a Smith, one in 1,200 John Smith.
SMITHS = ("John Smith",) * 5 + ("Ann Smith", "Robert J. Smith", "Smith Okoro", "Wei Smithson") * 4
MARKED = mostly("{}", 97, ("{}<sup>2</sup>", "<i>k</i>-{}", "H<sub>2</sub>O {}", "{} &amp; more"))


@dataclass(frozen=True, slots=True)
class Volume:
    """One year's proceedings of a conference, or one volume of a journal."""

    venue: str
    year: int
    journal: bool
    key: str

    @classmethod
    def of(cls, dice: Dice, number: int) -> "Volume":
        """The `number`-th volume; no two have one key, however many there are."""
        journal = dice.chance(40)
        venue, rest = venues()[number % VENUES], number // VENUES
        year, part = YEARS[rest * 7 % len(YEARS)], rest // len(YEARS)
        key = f"{'journals' if journal else 'conf'}/{venue.lower()}/{year}"
        return cls(venue, year, journal, f"{key}-{part}" if part else key)


def pieces(factor: float, seed: int) -> Iterator[str]:
    """The document record by record; a volume's own record stands before its papers."""
    dice = Dice(seed, "bibliography")
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<dblp>\n'
    number, left = 0, max(2, int(factor * RECORDS))
    while left:
        volume = Volume.of(dice, number)
        records = min(left, 2 + dice.one(PAPERS))
        yield _article(dice, volume, 0) if volume.journal else _proceedings(dice, volume)
        for paper in range(1, records):
            yield (_article if volume.journal else _inproceedings)(dice, volume, paper)
        number, left = number + 1, left - records
    yield "</dblp>\n"


def _proceedings(dice: Dice, volume: Volume) -> str:
    editors = "".join([f"<editor>{dice.one(authors())}</editor>\n" for _ in range(2)])
    return (
        f'<proceedings mdate="{dice.one(DATES)}" key="{volume.key}">\n{editors}'
        f"<title>Proceedings of {volume.venue} {volume.year}, {_title(dice)}</title>\n"
        f"<booktitle>{volume.venue}</booktitle>\n"
        f"<publisher>{dice.one(surnames())} Press</publisher>\n"
        f"<year>{volume.year}</year>\n<isbn>{_isbn(dice)}</isbn>\n"
        f"<url>db/{volume.key}.html</url>\n</proceedings>\n"
    )


def _inproceedings(dice: Dice, volume: Volume, paper: int) -> str:
    key = f"{volume.key}/{dice.one(surnames())}{paper}"
    return (
        f'<inproceedings mdate="{dice.one(DATES)}" key="{key}">\n{_authors(dice)}'
        f"<title>{_title(dice)}</title>\n{_pages(dice)}<year>{volume.year}</year>\n"
        f"<booktitle>{volume.venue}</booktitle>\n{_ee(dice)}<crossref>{volume.key}</crossref>\n"
        f"<url>db/{volume.key}.html#{paper}</url>\n</inproceedings>\n"
    )


def _article(dice: Dice, volume: Volume, paper: int) -> str:
    key = f"{volume.key}/{dice.one(surnames())}{paper}"
    return (
        f'<article mdate="{dice.one(DATES)}" key="{key}">\n{_authors(dice)}'
        f"<title>{_title(dice)}</title>\n{_pages(dice)}<year>{volume.year}</year>\n"
        f"<volume>{volume.year - YEARS[0] + 1}</volume>\n<journal>J. {volume.venue}</journal>\n"
        f"<number>{1 + dice.below(12)}</number>\n{_ee(dice)}"
        f"<url>db/{volume.key}.html#{paper}</url>\n</article>\n"
    )


def _authors(dice: Dice) -> str:
    count = range(dice.one(AUTHORS))
    return "".join([f"<author>{dice.one(authors())}</author>\n" for _ in count])


def _title(dice: Dice) -> str:
    return f"{dice.one(openings())} {dice.one(closings())}."


def _pages(dice: Dice) -> str:
    first = 1 + dice.below(900)
    return "" if dice.chance(5) else f"<pages>{first}-{first + 2 + dice.below(25)}</pages>\n"


def _ee(dice: Dice) -> str:
    if dice.chance(10):
        return ""
    return f"<ee>https://doi.org/10.{1000 + dice.below(9000)}/{dice.below(10**9)}</ee>\n"


def _isbn(dice: Dice) -> str:
    return f"978-3-{100 + dice.below(900)}-{10000 + dice.below(90000)}-{dice.below(10)}"


@cache
def openings() -> tuple[str, ...]:
    """First halves of titles."""
    dice = Dice(0, "openings")
    return tuple(_words(dice).capitalize() for _ in range(4096))


@cache
def closings() -> tuple[str, ...]:
    """Second halves of titles, a few with mark-up or an entity."""
    dice = Dice(0, "closings")
    return tuple(dice.one(MARKED).format(_words(dice)) for _ in range(4096))


def _words(dice: Dice) -> str:
    return phrase(dice, dice.one(HALF_A_TITLE)).rstrip()


@cache
def venues() -> tuple[str, ...]:
    """Acronyms of conferences and journals."""
    dice, found = Dice(0, "venues"), dict[str, None]()
    while len(found) < VENUES:
        found["".join([dice.one("ABCDEFGILMOPRSTV") for _ in range(3 + dice.below(3))])] = None
    return tuple(found)


@cache
def authors() -> tuple[str, ...]:
    """Authors as a distribution: a few write much, most write little."""
    dice = Dice(0, "authors")
    return zipf([_full_name(dice) for _ in range(20_000)], flat=400) + SMITHS * 10


def _full_name(dice: Dice) -> str:
    last = dice.one(ACCENTED) if dice.chance(4) else dice.one(surnames())
    number = f" {1 + dice.below(9):04d}" if dice.chance(2) else ""
    return f"{dice.one(FIRST_NAMES)}{dice.one(INITIALS)} {dice.one(PARTICLES)}{last}{number}"
