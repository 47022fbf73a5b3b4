"""The way of all rules: to an end, the same end from there, and told step by step."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from bench import queries
from tests.algebra.plans import golden_queries, nested
from tests.rewrite.ways import lowered
from xstreamcast.algebra.show import show_program
from xstreamcast.errors import Error
from xstreamcast.evaluate.deep import deep
from xstreamcast.rewrite.optimise import optimise, trace
from xstreamcast.rewrite.rules import RULES

TEXTS = [
    *(Path(__file__).parent / "queries.txt").read_text("utf-8").splitlines(),
    *(query.text for query in (*queries.nine(), *queries.xmark())),
]


@pytest.mark.parametrize("text", TEXTS)
def test_an_optimised_program_has_nothing_left_to_rewrite(text: str) -> None:
    assert trace(optimise(lowered(text))) == []


@given(nested())
def test_rules_come_to_an_end_on_generated_programs(text: str) -> None:
    assert trace(optimise(lowered(text))) == []


def test_rules_come_to_an_end_on_the_plans_of_the_corpus() -> None:
    for text in golden_queries():
        try:
            program = lowered(text)
        except Error:
            continue
        assert trace(optimise(program)) == []


def test_without_rules_the_program_is_the_same() -> None:
    program = lowered("for $x in //a where $x/@k = 1 + 1 return $x")
    assert optimise(program, ()) is program


def test_a_trace_names_rules_and_shows_what_they_changed() -> None:
    told = "\n".join(map(str, trace(lowered("1 + 2"))))
    assert told == "fold_constants\n- +(1, 2)\n+ 3"


def test_a_sequential_program_stays_as_it_is() -> None:
    text = "declare execution sequential; for $x in //a where 1 = 1 return $x"
    program = lowered(text)
    assert optimise(program) is program


def test_a_long_chain_is_rewritten_without_a_stack() -> None:
    text = " + ".join(["1"] * 1900)
    assert show_program(deep(lambda: optimise(lowered(text)))) == "1900"


def test_names_of_rules_are_unique() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
