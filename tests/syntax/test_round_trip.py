"""parse ∘ print = identity."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given

from tests.syntax.trees import modules
from xstreamcast.errors import Error
from xstreamcast.syntax import parse, print_module, show_tree
from xstreamcast.syntax.tree import Module


@given(modules)
def test_a_printed_tree_parses_to_the_same_tree(module: Module) -> None:
    assert parse(print_module(module)) == module


@given(modules)
def test_printing_is_stable(module: Module) -> None:
    text = print_module(module)
    assert print_module(parse(text)) == text


@given(modules)
def test_the_outline_shows_every_tree(module: Module) -> None:
    assert show_tree(module).startswith("Module")


def test_every_query_of_the_w3c_suite_survives_printing(shared: Path) -> None:
    cases = shared / "qt3" / "cases-open.jsonl"
    if not cases.exists():
        pytest.skip("no W3C cases in the shared test data")
    checked, changed = 0, []
    for line in cases.read_text("utf-8").split("\n")[:-1]:
        case = json.loads(line)
        try:
            module = parse(case["query"])
        except Error:
            continue
        checked += 1
        if parse(print_module(module)) != module:
            changed.append(case["name"])
    assert checked > 16_000
    assert changed == []
