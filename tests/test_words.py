"""Plain English of the field: what users read has no words of a dialect of our own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xstreamcast.cli.manual import described
from xstreamcast.cli.screens import help_screen
from xstreamcast.errors import CODES

ROOT = Path(__file__).parents[1]

# What to write instead: evaluated, emitted, printed, is, next to, continues, separate.
DIALECT = re.compile(
    r"\b(asked|asking|told|tells|telling|stands|stood|beside|goes on|go on|going on|comes up"
    r"|upset)\b",
    re.IGNORECASE,
)
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
