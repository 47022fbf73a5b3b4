"""The W3C window use cases, fed in pieces: both policies end with what is published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.operators.test_law import chunks
from xstreamcast.api import compiled, query
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.watching.inputs import Policy
from xstreamcast.operators.watching.watch import Watch

etree = pytest.importorskip("lxml.etree", reason="lxml compares the answers")
CASES = Path(__file__).parents[3] / "shared" / "qt3"


def use_cases() -> list[dict[str, Any]]:
    """The published cases that are at hand."""
    listed = CASES / "cases-open.jsonl"
    if not listed.exists():
        return []
    with listed.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row for row in rows if row["name"].startswith("WindowingUseCase")]


CASES_AT_HAND = use_cases()
pytestmark = pytest.mark.skipif(
    not CASES_AT_HAND, reason="the W3C cases are not beside the checkout"
)
named = pytest.mark.parametrize("case", CASES_AT_HAND, ids=lambda case: case["name"])


def canonical(items: list[str]) -> bytes:
    made: bytes = etree.tostring(etree.fromstring(f"<x>{''.join(items)}</x>"), method="c14n")
    return made


def content(case: dict[str, Any]) -> bytes:
    return (CASES / "data" / str(case["context"])).read_bytes()


def watched(case: dict[str, Any], parts: list[bytes], policy: Policy, at_each=None) -> list[str]:
    """The answer that the changes add up to when the document comes in parts."""
    watch, told = Watch(compiled(case["query"]), {None: "document"}, policy=policy), Accumulated()
    for part in parts:
        watch.on_bytes(None, part)
        for change in watch.tick():
            told.apply(change)
        if at_each is not None:
            at_each(told)
    watch.on_end(None)
    for change in watch.tick():
        told.apply(change)
    return told.items()


@named
@settings(deadline=None, max_examples=examples(3))
@given(
    cuts=st.lists(st.integers(0, 10**6), max_size=40),
    policy=st.sampled_from(["optimistic", "strict"]),
)
def test_a_use_case_in_pieces_gives_what_is_published(case, cuts, policy):
    told = watched(case, chunks(content(case), cuts), policy)
    assert canonical(told) == canonical([case["expect"]["v"]])


@named
def test_a_use_case_item_by_item_answers_for_what_has_come(case):
    document = content(case)
    parts = [part + b">" for part in document.split(b">")[:-1]]
    parts[-1] += document.rsplit(b">", 1)[1]
    assert b"".join(parts) == document
    told = watched(case, parts, "optimistic")
    assert told == list(query(case["query"]).run(document).lines())


@named
def test_a_use_case_keeps_windows_and_not_its_input(case):
    watch = Watch(compiled(case["query"]), {None: "document"})
    assert watch.pipeline is not None
    whole = isinstance(watch.pipeline, CircuitRun) and bool(watch.pipeline.circuit.whole)
    assert not whole
