"""Spans: every node knows its place, inside its parent's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from xstreamcast.errors import Error, Source
from xstreamcast.syntax import parse
from xstreamcast.syntax import tree as t


def below(node: Any) -> Iterator[Any]:
    """The nodes directly below one."""
    for field in fields(node):
        value = getattr(node, field.name)
        for child in value if isinstance(value, tuple) else (value,):
            if is_dataclass(child) and not isinstance(child, Source):
                yield child


def misplaced(node: Any, text: str) -> Iterator[str]:
    """Nodes that stand outside their parent, or nowhere."""
    start, end = node.span
    for child in below(node):
        first, last = child.span
        if not (start <= first < last <= end):
            yield f"{type(child).__name__} {child.span} in {type(node).__name__} {node.span}"
        yield from misplaced(child, text)


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("  1 + $x  ", "1 + $x"),
        ("for $x in a (: c :) return b (: d :)", "for $x in a (: c :) return b"),
        ("( 1, 2 )", "1, 2"),
        ("$a/b?[now]/c", "$a/b?[now]/c"),
        ("$a => f(1)", "$a => f(1)"),
        ("<a>{ 1 }</a> ", "<a>{ 1 }</a>"),
        ("1\r\n+\r\n2", "1\n+\n2"),
    ],
)
def test_the_span_of_the_body_is_what_was_written(query: str, shown: str) -> None:
    module = parse(query)
    start, end = module.body.span
    assert module.source.text[start:end] == shown


def test_a_name_has_its_own_place() -> None:
    module = parse("let $price := 1 return $price")
    assert isinstance(module.body, t.Flwor)
    (let,) = module.body.clauses
    assert isinstance(let, t.LetClause)
    assert module.source.text[slice(*let.name.span)] == "price"


def test_every_node_of_the_w3c_queries_stands_inside_its_parent(shared: Path) -> None:
    cases = shared / "qt3" / "cases-open.jsonl"
    if not cases.exists():
        pytest.skip("no W3C cases in the shared test data")
    found = []
    for line in cases.read_text("utf-8").split("\n")[:-1:5]:
        query = json.loads(line)["query"]
        try:
            module = parse(query)
        except Error:
            continue
        found += [(query, problem) for problem in misplaced(module, query)]
    assert found == []
