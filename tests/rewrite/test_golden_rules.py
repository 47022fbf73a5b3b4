"""Golden files: tests/corpus/rewrite/RULE.spec holds queries and what RULE alone makes of each.

Above the rule: queries, parted by empty lines. Below it: the plan of each before and after.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rewrite.ways import lowered
from xstreamcast.algebra.show import show
from xstreamcast.rewrite import optimise as way
from xstreamcast.rewrite.known import Known
from xstreamcast.rewrite.rules import RULES, Rule

CORPUS = Path(__file__).parents[1] / "corpus" / "rewrite"
Golden = Callable[[Path, str], None]


def changed(query: str, rule: Rule) -> str:
    program = lowered(query)
    after = way.rewritten(program.body, rule, Known(program))
    return f"{show(program.body)}\n→\n{show(after)}\n"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_alone_does_what_its_golden_file_says(rule: Rule, golden: Golden) -> None:
    path = CORPUS / f"{rule.name}.spec"
    given = path.read_text("utf-8").partition("----\n")[0]
    queries = [query for query in given.split("\n\n") if query.strip()]
    golden(path, "\n".join(changed(query, rule) for query in queries))


def test_every_golden_file_has_its_rule() -> None:
    assert {path.stem for path in CORPUS.glob("*.spec")} == {rule.name for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_stands_in_the_file_of_its_name(rule: Rule) -> None:
    assert rule.apply.__module__ == f"xstreamcast.rewrite.{rule.name}"
    assert "→" in (rule.apply.__doc__ or "")
