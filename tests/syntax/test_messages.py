"""Messages and outlines, as golden files: the query above the rule, what is shown below it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import RULE, Golden
from xstreamcast.errors import Error
from xstreamcast.syntax import parse, show_tree

HERE = Path(__file__).parent


def query_of(path: Path) -> str:
    return path.read_text("utf-8").partition(RULE)[0].rstrip("\n")


@pytest.mark.parametrize("path", sorted(HERE.glob("messages/*.err")), ids=lambda p: p.stem)
def test_a_mistake_is_told_with_its_place(path: Path, golden: Golden) -> None:
    with pytest.raises(Error) as told:
        parse(query_of(path))
    golden(path, told.value.render())


@pytest.mark.parametrize("path", sorted(HERE.glob("outlines/*.tree")), ids=lambda p: p.stem)
def test_a_tree_is_shown_one_node_a_line(path: Path, golden: Golden) -> None:
    golden(path, show_tree(parse(query_of(path))))
