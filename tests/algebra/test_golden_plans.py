"""Golden plans: tests/corpus/plan/*.spec holds a query, a rule, and the plan it is lowered to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from xstreamcast.algebra.lowering import lower
from xstreamcast.algebra.show import show_program
from xstreamcast.errors import Error
from xstreamcast.syntax import parse

CORPUS = Path(__file__).parents[1] / "corpus"
RULE = "----\n"
Golden = Callable[[Path, str], None]


def query_of(path: Path) -> str:
    return path.read_text("utf-8").partition(RULE)[0]


@pytest.mark.parametrize("path", sorted((CORPUS / "plan").glob("*.spec")), ids=lambda p: p.stem)
def test_a_query_is_lowered_to_the_plan_of_its_golden_file(path: Path, golden: Golden) -> None:
    golden(path, show_program(lower(parse(query_of(path)))))


@pytest.mark.parametrize("path", sorted((CORPUS / "static").glob("*.err")), ids=lambda p: p.stem)
def test_a_static_error_reads_as_its_golden_file_says(path: Path, golden: Golden) -> None:
    with pytest.raises(Error) as caught:
        lower(parse(query_of(path), "q.xq"))
    assert caught.value.exit_status == 3
    golden(path, caught.value.render())
