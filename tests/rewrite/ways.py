"""One query over one document, with any set of rules."""

from __future__ import annotations

import numpy as np

from xstreamcast.algebra.lowering import lower
from xstreamcast.algebra.program import Program
from xstreamcast.errors import Error
from xstreamcast.evaluate.context import Inputs
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.results.results import records
from xstreamcast.evaluate.run import run
from xstreamcast.model.items import Items
from xstreamcast.rewrite.optimise import optimise
from xstreamcast.rewrite.rules import RULES, Rule
from xstreamcast.syntax import parse
from xstreamcast.tape.store import Store

NONE: tuple[Rule, ...] = ()


def lowered(text: str) -> Program:
    return lower(parse(text))


def answer(text: str, document: bytes, rules: tuple[Rule, ...]) -> list[object]:
    """The items of the answer, or the code of the error."""
    store = Store()
    inputs = Inputs(store)
    inputs.item = Items.of_nodes(np.array([store.read(document)], np.int64))
    try:
        program = deep(lambda: optimise(lowered(text), rules))
        return list(records(store, run(program, inputs)))
    except Error as caught:
        return [caught.code]


def all_but(rule: Rule) -> tuple[Rule, ...]:
    return tuple(one for one in RULES if one is not rule)


def assert_no_rule_matters(text: str, document: bytes) -> None:
    """The answer is the same with all rules, without each of them, and with none."""
    plain = answer(text, document, NONE)
    assert answer(text, document, RULES) == plain, text
    used = {id(one) for one in RULES if fires(text, one)}
    for rule in RULES:
        assert answer(text, document, all_but(rule)) == plain, (rule.name, text)
        if id(rule) in used:
            assert answer(text, document, (rule,)) == plain, (rule.name, text)


def fires(text: str, rule: Rule) -> bool:
    told: list[object] = []
    try:
        optimise(lowered(text), (rule,), told.append)
    except Error:
        return False
    return bool(told)
