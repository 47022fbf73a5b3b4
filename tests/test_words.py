"""Plain English of the field: what users read has no words of a dialect of our own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xstreamcast.cli.manual import described
from xstreamcast.cli.screens import help_screen
from xstreamcast.errors import CODES

ROOT = Path(__file__).parents[1]

# What to write instead: evaluated, emitted, printed, is, next to, continues, separate, again.
DIALECT = re.compile(
    r"\b(asked|asking|told|tells|telling|stands|stood|beside|goes on|go on|going on|comes up"
    r"|upset|whoever|nobody|somebody|anybody|anew|lets? go|read whole|reads? \w+ whole|gone on)\b",
    re.IGNORECASE,
)

# Lines of the source with a word of the dialect. These numbers may only fall: write what
# happens instead (asked: evaluated, requested, needed; told: emitted, reported, sent; stands: is).
# What is left are names in kernels and files of state, `anew` and `beside` as names of values.
CAPS = {
    r"asked": 4,
    r"told": 15,
    r"stands?|stood": 0,
    r"nobody|somebody|anybody|whoever": 3,
    r"anew": 43,
    r"beside": 28,
    r"goes on|go on|gone on": 2,
    r"tells": 1,
    r"lies": 1,
    r"lets? go|letting go": 0,
    r"hands? on|handed on": 0,
    r"hears?": 0,
}
PLAIN_ROOMS = ("model", "history", "evaluate", "functions", "rewrite", "live")  # none of them
GENERATED = {"scaling.md"}  # written by a benchmark

PAGES = [
    page
    for pattern in ("*.md", "docs/*.md", "examples/**/*.md")
    for page in sorted(ROOT.glob(pattern))
    if page.name not in GENERATED
]


def prose(text: str) -> str:
    """A page without what is code in it."""
    return re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.S | re.M)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_is_plain(page: Path) -> None:
    text = prose(page.read_text("utf-8"))
    assert [hit.group() for hit in DIALECT.finditer(text)] == []


@pytest.mark.parametrize("command", list(described()), ids=lambda command: command.name)
def test_the_help_of_a_command_is_plain(command) -> None:
    texts = [command.help, *(one.help for one in (*command.options, *command.arguments))]
    assert [text for text in texts if DIALECT.search(text)] == []


def test_the_help_screen_and_the_errors_are_plain() -> None:
    assert DIALECT.search(help_screen()) is None
    assert [sentence for _, sentence in CODES.values() if DIALECT.search(sentence)] == []


def source_lines(*rooms: str) -> list[str]:
    folder = ROOT / "src" / "xstreamcast"
    sources = [path for room in rooms or ("",) for path in sorted((folder / room).rglob("*.py"))]
    return [line for path in sources for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("words", list(CAPS))
def test_a_word_of_the_dialect_becomes_rarer_in_the_source(words: str) -> None:
    pattern = re.compile(rf"\b({words})\b", re.IGNORECASE)
    assert sum(pattern.search(line) is not None for line in source_lines()) <= CAPS[words]


@pytest.mark.parametrize("room", PLAIN_ROOMS)
def test_a_room_that_was_gone_through_stays_plain(room: str) -> None:
    pattern = re.compile(r"\b(asked|told)\b", re.IGNORECASE)
    assert [line for line in source_lines(room) if pattern.search(line)] == []
