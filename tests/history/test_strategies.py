"""Which fragments a strategy reads, and why."""

from __future__ import annotations

import numpy as np
import pytest

import xstreamcast as xsc
from tests.history.telling import filler, hole, told
from xstreamcast.algebra.analysis.strategies import Choice, explain_strategy
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.history.history import History, forked
from xstreamcast.history.query import HistoryQuery, When

PARTS = [
    filler(0, 1, "1", f"<accounts>{hole(1, 2)}</accounts>"),
    filler(1, 2, "2", f"<account>{hole(2, 4)}{hole(3, 5)}</account>"),
    filler(2, 4, "2", "<limit>10</limit>"),
    filler(3, 5, "4", f"<charge><amount>7</amount>{hole(4, 6)}</charge>"),
    filler(4, 6, "4", "<status>asked</status>"),
    filler(4, 6, "6", "<status>paid</status>"),
]

# query → (strategy, tags written in full, tags passed by link, whether in place)
CHOICES: dict[str, tuple[str, set[int], set[int], bool]] = {
    'stream("credit")//status/text()': ("qac+", {6}, {1, 2, 5}, True),
    'stream("credit")//status': ("qac+", {6}, {1, 2, 5}, False),
    'stream("credit")/accounts/account/limit/text()': ("qac+", {4}, {1, 2}, True),
    'stream("credit")//charge[status = "paid"]/amount/text()': ("qac+", {5, 6}, {1, 2}, False),
    # No hole is below an amount: a status never stands between two of its texts.
    'stream("credit")//amount/text()': ("qac+", {5}, {1, 2}, True),
    'count(stream("credit")//account)': ("qac+", {2}, {1}, True),
    'stream("credit")/accounts[account/limit = 10]/name()': ("qac+", {1, 2, 4}, set(), False),
    'stream("credit")//status/..': ("qac", {1, 2, 5, 6}, set(), False),
    'stream("credit")//*[amount = 7]/status/text()': ("qac+", {5, 6}, {1, 2}, False),
    'count(stream("credit")//amount/ancestor::account//limit)': ("qac", {1, 2, 4, 5}, set(), False),
    'stream("credit")//status/preceding::limit': ("caq", set(), set(), False),
    'for-each(stream("credit")//limit, string#1)': ("qac+", {4}, {1, 2}, True),
    'fold-left(stream("credit")//limit, 0, max#2)': ("caq", set(), set(), False),
}


def chosen(query: str, history: History) -> Choice:
    store = forked(history.store)
    when = When(Moment(history.newest))
    return HistoryQuery(xsc.query(query).program, {"credit": history}, store, when).choice.streams[
        "credit"
    ]


@pytest.mark.parametrize("query", CHOICES)
def test_only_the_fragments_that_a_query_needs_are_read(query: str) -> None:
    choice = chosen(query, told(PARTS))
    strategy, full, link, in_place = CHOICES[query]
    assert (choice.strategy, choice.in_place) == (strategy, in_place)
    if strategy != "caq":
        assert (set(choice.full), set(choice.link)) == (full, link)


def test_in_place_nothing_is_copied_unless_fragments_came_out_of_order() -> None:
    query = 'stream("credit")//status/text()'
    for parts, copied in ((PARTS, 0), ([*PARTS[:4], PARTS[5], PARTS[4]], 1)):
        history = told(parts)
        store = forked(history.store)
        before = len(store._tapes)
        asked = HistoryQuery(
            xsc.query(query).program, {"credit": history}, store, When(Moment(history.newest))
        )
        nodes = asked.stream("credit\x1f6")
        assert len(store._tapes) - before == copied
        assert store.strings(np.asarray(nodes.values)).tolist() == ["asked", "paid"]


def test_a_structure_alone_is_enough_to_explain() -> None:
    structure = told(PARTS).structure
    said = explain_strategy(xsc.query('stream("credit")//status').program, {"credit": structure})
    assert said == (
        "stream credit: qac+, because paths name all elements of their tags\n"
        "  fragments read: status\n"
        "  passed by links alone: accounts, account, charge"
    )


def test_what_a_structure_did_not_promise_is_found_all_the_same() -> None:
    odd = filler(2, 4, "3", "<limit><amount>99</amount></limit>")
    for strategy in ("caq", "qac", "qac+"):
        answer = xsc.query('stream("credit")//amount/string()').run(
            credit=told([*PARTS, odd]), strategy=strategy
        )
        assert list(answer.lines()) == ["99", "7"]


NAMESPACED = [
    filler(0, 1, "1", f'<accounts xmlns:q="u">{hole(1, 2)}</accounts>'),
    filler(1, 2, "2", f'<account xmlns:r="v">{hole(2, 4)}{hole(3, 5)}</account>'),
    filler(2, 4, "2", "<limit>10</limit>"),
    filler(3, 5, "2", "<charge/>"),
]


@pytest.mark.parametrize(
    ("query", "strategy"),
    {
        'stream("credit")//limit': "qac",
        'stream("credit")//account ! <x>{limit}</x>': "qac",
        'in-scope-prefixes(stream("credit")//limit)': "qac",
        'stream("credit")//limit/string()': "qac+",
        'stream("credit")//account ! count(limit)': "qac+",
    }.items(),
)
def test_copies_have_the_namespaces_of_what_is_above_them(query: str, strategy: str) -> None:
    history = told(NAMESPACED)
    answers = [
        list(xsc.query(query).run(credit=history, strategy=one).lines())
        for one in ("caq", "qac", "qac+")
    ]
    assert answers[1:] == [answers[0]] * 2
    assert chosen(query, history).strategy == strategy
