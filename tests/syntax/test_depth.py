"""Deep and long queries: parsed and printed, or told; never a stack that ends."""

from __future__ import annotations

import pytest

from xstreamcast.errors import Error
from xstreamcast.syntax import parse, print_module, show_tree

LADDER = "1 or 2 and 3 = 4 || 5 to 6 + 7 * 8 | 9 intersect - 1 ! a/b[("
NESTED = {
    "parentheses": ("(", "1", ")", 250),
    "every precedence": (LADDER, "1", ")]", 120),
    "elements": ("<a>{", "1", "}</a>", 120),
    "pure elements": ("<a>", "1", "</a>", 250),
    "calls": ("f(", "1", ")", 250),
    "flwor": ("for $x in 1 where (", "1", ") return 2", 120),
    "conditions": ("if (1) then 2 else ", "1", "", 250),
    "projections": ("$a?[", "1", "]", 250),
    "functions": ("function($a) { ", "1", " }", 250),
    "types": ("1 instance of " + "(" * 250, "item()", ")" * 250, 1),
}
CHAINS = {
    "sum": "1" + " + 1" * 1990,
    "union": "a" + " | a" * 1990,
    "map": "1" + " ! 1" * 1990,
    "calls": "$f" + "(1)" * 1990,
    "signs": "-" * 1990 + "1",
    "or": "1" + " or 1" * 5_000,
    "sequence": "1" + ", 1" * 5_000,
    "path": "a" + "/a" * 5_000,
    "predicates": "a" + "[1]" * 5_000,
    "clauses": "let $a := 1 " * 5_000 + "return $a",
    "projections": "$a" + "?[1]" * 1990,
}
ENDLESS = {
    "parentheses": "(" * 100_000,
    "elements": "<a>" * 100_000,
    "types": "1 instance of " + "function(" * 100_000,
    "parenthesised types": "1 instance of " + "(" * 100_000,
    "sum": "1" + " + 1" * 100_000,
    "signs": "-" * 100_000 + "1",
    "map": "1" + " ! 1" * 100_000,
    "calls": "$f" + "()" * 100_000,
    "arrows": "$f" + " => f()" * 100_000,
    "arrays": "[" * 100_000,
    "maps": "map { 1 : " * 100_000,
    "projections": "$a" + "?[1]" * 100_000,
    "comments": "(:" * 100_000,
    "interpolation": "``[`{ " * 100_000,
    "attributes": "<a b='{" * 100_000,
}


@pytest.mark.parametrize("shape", NESTED)
def test_deep_nesting_is_parsed_and_printed(shape: str) -> None:
    head, heart, tail, depth = NESTED[shape]
    module = parse(head * depth + heart + tail * depth)
    assert print_module(parse(print_module(module))) == print_module(module)
    assert show_tree(module)


@pytest.mark.parametrize("shape", CHAINS)
def test_long_chains_are_parsed_and_printed(shape: str) -> None:
    module = parse(CHAINS[shape])
    assert print_module(parse(print_module(module))) == print_module(module)
    assert show_tree(module)


@pytest.mark.parametrize("shape", ENDLESS)
def test_nesting_without_end_is_told(shape: str) -> None:
    with pytest.raises(Error) as told:
        parse(ENDLESS[shape])
    assert told.value.code in ("XPDY0130", "XPST0003")
