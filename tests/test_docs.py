"""Documentation that runs: `console` blocks are typed and compared, `python` blocks are executed.

Any other block (`text`, `xquery`, `xml`, …) is for eyes. In expected output, `...` stands for
anything, within a line or over lines. Pages of `examples/` run in a copy of their folder.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from docs.site.pages import GENERATED
from tests.warm_command import warm_folder

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
PAGES = [
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md")
    for page in sorted(ROOT.glob(pattern))
]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.S | re.M)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced part of a page."""

    language: str
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    return [
        Block(found[1], found[2], page.count("\n", 0, found.start()) + 1)
        for found in FENCE.finditer(page)
    ]


def commands(text: str) -> list[tuple[str, str]]:
    """Each `$ command` (lines that begin with `> ` continue it) with the output below it."""
    made: list[tuple[list[str], list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            made.append(([line[2:]], []))
        elif line.startswith("> ") and made and not made[-1][1]:
            made[-1][0].append(line[2:])
        else:
            assert made, f"output before any command: {line}"
            made[-1][1].append(line)
    return [("\n".join(typed), "\n".join(said).strip()) for typed, said in made]


def agrees(expected: str, actual: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, actual, re.S) is not None


def typed(command: str, folder: Path, commands: Path) -> str:
    """What a person sees who types the command."""
    path = os.pathsep.join([str(commands), str(Path(sys.executable).parent), os.environ["PATH"]])
    env = os.environ | {"PATH": path, "NO_COLOR": "1", "COLUMNS": "100"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines()).strip()


def starts_spark(page: Path) -> bool:
    return "--runner spark" in page.read_text("utf-8")


def executed(page: Path) -> object:
    """A page as a case: one that starts Spark is marked so."""
    marks = [pytest.mark.spark, pytest.mark.slow] if starts_spark(page) else []
    return pytest.param(page, marks=marks, id=page.relative_to(ROOT).as_posix())


@pytest.mark.parametrize("page", [executed(page) for page in PAGES])
def test_what_a_page_shows_is_what_happens(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page.is_relative_to(EXAMPLES):
        shutil.copytree(page.parent, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    installed = Path(sys.executable).parent if starts_spark(page) else warm_folder()
    names: dict[str, object] = {"__name__": page.stem}
    for block in blocks(page.read_text("utf-8")):
        where = f"{page.name}:{block.line}"
        if block.language == "python":
            exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
        if block.language == "console":
            for command, expected in commands(block.text):
                actual = typed(command, tmp_path, installed)
                assert agrees(expected, actual), f"{where}: $ {command}\n{actual}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    made = {ROOT / "docs" / name for name in GENERATED}
    places = [(target, (page.parent / target).resolve()) for target in targets]
    assert [target for target, place in places if not place.exists() and place not in made] == []


def test_the_first_screen_of_the_readme_names_the_two_commands() -> None:
    first = (ROOT / "README.md").read_text("utf-8").splitlines()[:45]
    assert any(line.startswith("make demo") for line in first)
    assert any(line.startswith("make test") for line in first)


def test_commands_are_read_with_their_output() -> None:
    assert commands("$ a \\\n> b\nout\n\n$ c\n") == [("a \\\nb", "out"), ("c", "")]


def test_dots_stand_for_anything_and_the_rest_is_exact() -> None:
    assert agrees("a ... c", "a b\nb c")
    assert not agrees("a ... c", "a b d")
    assert not agrees("a.c", "abc")
