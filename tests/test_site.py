"""The docs site: drawings are current, generated pages are complete, and it builds strictly."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import xstreamcast
from docs.site.draw import DRAWINGS, FOLDER
from docs.site.pages import GENERATED
from docs.site.recording import TARGET, picture, recorded
from xstreamcast.cli.manual import described
from xstreamcast.errors import CODES
from xstreamcast.functions.registry import rows

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_what_its_script_draws(name: str) -> None:
    assert (FOLDER / f"{name}.svg").read_text("utf-8") == DRAWINGS[name](), "make docs redraws it"


@pytest.mark.slow
def test_the_moving_picture_is_what_watch_prints() -> None:
    assert TARGET.read_text("utf-8") == picture(recorded()), "python -m docs.site.recording"


def test_every_command_and_option_is_on_its_page() -> None:
    page = GENERATED["reference/commands.md"]()
    for command in described():
        assert f"\n## {command.name}\n" in page
        assert [one.shown for one in command.options if one.flags[-1] not in page] == []


def test_every_function_is_on_its_page() -> None:
    page = GENERATED["reference/functions.md"]()
    assert [row.signature for row in rows() if row.signature not in page] == []
    assert "`vtFrom($e as element()) as xs:dateTime`" in page


def test_every_error_is_on_its_page() -> None:
    page = GENERATED["reference/errors.md"]()
    assert [code for code in CODES if f"`{code}`" not in page] == []


def test_every_public_name_is_on_its_page_with_a_sentence() -> None:
    page = GENERATED["reference/python.md"]()
    for name in xstreamcast.__all__:
        _, found, rest = page.partition(f"\n## xstreamcast.{name}\n")
        assert found, name
        assert rest.split("```")[2].strip(), f"{name} has no docstring"


@pytest.mark.skipif(find_spec("pyspark") is None, reason="the spark extra is not installed")
@pytest.mark.parametrize(
    "name",
    [
        "Query.run", "Query.watch", "Query.spark", "Queries.watch", "Answer.__iter__",
        "Answer.to_spark", "Node.children",
        "Changes.__aiter__", "SparkQuery.watch", "Node.__getitem__", "Node.xml", "Change.to_json",
    ],
)  # fmt: skip
def test_a_method_is_on_its_page_where_its_class_inherits_it_too(name: str) -> None:
    assert re.search(rf"^#+ {re.escape(name)}$", GENERATED["reference/python.md"](), re.M)


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="the docs extra is not installed")
def test_the_site_builds_without_a_broken_link(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert (tmp_path / "reference" / "errors" / "index.html").exists()
