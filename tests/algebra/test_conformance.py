"""The open cases of the XQuery test suite, as far as compiling them goes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PROFILE
from xstreamcast.algebra.analysis.free import free_variables
from xstreamcast.algebra.lowering import lower
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.show import show_program
from xstreamcast.errors import Error
from xstreamcast.syntax import parse


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[dict[str, Any]]:
    path = shared / "qt3" / "cases-open.jsonl"
    if not path.is_file():
        pytest.skip("no test suite beside the checkout")
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def outcomes(expected: dict[str, Any]) -> Iterator[str | None]:
    """The codes of errors that are right, None where a value is."""
    if expected["op"] == "error":
        yield expected["code"]
    elif expected["op"] == "any-of":
        for one in expected["of"]:
            yield from outcomes(one)
    else:
        yield None


def compiled(query: str) -> Program | Error:
    try:
        return lower(parse(query))
    except Error as caught:
        return caught


def test_every_query_compiles_or_is_refused_with_a_place(cases) -> None:
    for case in cases if PROFILE == "thorough" else cases[::8]:
        made = compiled(case["query"])
        if isinstance(made, Error):
            assert made.place is not None, case["name"]
        else:
            assert free_variables(made.body) <= {one.variable for one in made.variables}
            assert show_program(made)


def test_a_static_error_that_must_be_is_the_one_that_is_raised(cases) -> None:
    """Left out: fn:error, which raises codes of the same form at run time."""
    wrong = []
    for case in cases:
        codes = set(outcomes(case["expect"]))
        static = all(code is not None and code[:4] in ("XPST", "XQST") for code in codes)
        if static and case["set"] != "fn-error":
            made = compiled(case["query"])
            if not (isinstance(made, Error) and made.code in codes):
                wrong.append((case["name"], codes, made))
    assert wrong == []
