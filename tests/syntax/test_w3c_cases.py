"""The W3C suite: whatever has an answer parses, and no grammar error is missed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from xstreamcast.errors import Error
from xstreamcast.syntax import parse

# Static errors that need resolved names, known types or a scope: the lowering tells them.
LATER = frozenset(
    (
        *("XPST0001", "XPST0005", "XPST0008", "XPST0017", "XPST0051", "XPST0080", "XPST0081"),
        *("XQST0040", "XQST0045", "XQST0046", "XQST0049", "XQST0052", "XQST0054", "XQST0060"),
        *("XQST0076", "XQST0079", "XQST0094"),
    )
)


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[dict[str, Any]]:
    path = shared / "qt3" / "cases-open.jsonl"
    if not path.exists():
        pytest.skip("no W3C cases in the shared test data")
    return [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]


def codes(expected: dict[str, Any]) -> Iterator[str]:
    """Every error code that a case accepts."""
    if expected["op"] == "error":
        yield expected["code"]
    for part in expected.get("of") or ():
        yield from codes(part)


def must_fail(expected: dict[str, Any]) -> bool:
    """Is an error the only right outcome?"""
    if expected["op"] in ("any-of", "all-of"):
        return all(must_fail(part) for part in expected["of"])
    return bool(expected["op"] == "error")


def outcome(query: str) -> str | None:
    try:
        parse(query)
    except Error as told:
        return told.code
    return None


def test_what_has_an_answer_parses(cases: list[dict[str, Any]]) -> None:
    refused = []
    for case in cases:
        code = outcome(case["query"])
        accepted = set(codes(case["expect"]))
        if code is not None and code not in accepted and "*" not in accepted:
            refused.append((case["name"], code))
    assert refused == []


def test_no_error_of_the_text_alone_is_missed(cases: list[dict[str, Any]]) -> None:
    missed = []
    for case in cases:
        accepted = set(codes(case["expect"]))
        static = {code for code in accepted if code[:4] in ("XPST", "XQST")} - LATER
        raised_by_name = case["set"] == "fn-error"  # fn:error(QName(…, "XPST0003")) is dynamic
        if must_fail(case["expect"]) and static == accepted and not raised_by_name:
            code = outcome(case["query"])
            if code not in accepted:
                missed.append((case["name"], sorted(accepted), code))
    assert missed == []
