"""Conditions that stay true once they are."""

from __future__ import annotations

import pytest

import xstreamcast as xsc
from xstreamcast.algebra.analysis.monotone import monotone


@pytest.mark.parametrize(
    ("condition", "stays"),
    [
        ("b/text() = '1' and c/text() = '2'", True),
        ("b/text() = '1' or c/text() = '2'", True),
        ("b/text() = '1' and not(c)", False),
        ("not(b) or c/text() = '2'", False),
    ],
)
def test_and_or_stay_true_if_all_their_operands_do(condition: str, stays: bool) -> None:
    program = xsc.query(f"declare variable $s external; $s//a[{condition}]").program

    assert monotone(program.body, frozenset()) is stays
