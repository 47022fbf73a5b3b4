"""What a query only passes through is written without its content, and nobody notices."""

from __future__ import annotations

import pytest

from tests.history.telling import filler, hole, told
from xstreamcast import query
from xstreamcast.history.history import History
from xstreamcast.history.strategy import chosen

ACCOUNTS = "for $a in stream('credit')//account"
QUERIES = {
    f"{ACCOUNTS} return <c>{{ count($a/charge), $a/charge/amount }}</c>": {2},
    f"{ACCOUNTS} return <c>{{ $a/@n, $a/charge[1]/amount/text() }}</c>": {2},
    f"{ACCOUNTS}[@n = '1'] return string($a/charge[last()]/amount)": {2},
    f"{ACCOUNTS} return $a/customer/text() || $a/charge[1]/amount": set(),
    f"{ACCOUNTS} where vtFrom($a) > 2003-01-02T00:00:00 return count($a/charge)": {5},
    f"{ACCOUNTS} return string-join($a/charge/amount, '|')": {2},
    f"{ACCOUNTS} return ($a/text(), count($a/charge))": {5},
}


def _history() -> History:
    """Accounts with text, attributes and elements around their holes; one has two versions."""
    inner = f"a<customer>Ann</customer>{hole(4, 5)}b{hole(5, 5)}c"
    return told(
        [
            filler(5, 5, "7", '<charge k="2"><amount>7</amount></charge>'),
            filler(4, 5, "4", '<charge k="1"><amount>4</amount></charge>'),
            filler(2, 2, "2", f'<account n="1" m="x&amp;y">{inner}</account>'),
            filler(2, 2, "5", f'<account n="2">{inner}</account>'),
            filler(3, 2, "3", "<account>none</account>"),
            filler(0, 1, "1", f"<accounts>{hole(2, 2)}{hole(3, 2)}</accounts>"),
        ]
    )


@pytest.mark.parametrize("text", QUERIES)
def test_shells_change_no_answer(text: str) -> None:
    history = _history()
    caq, plus = (
        list(query(text).run(credit=history, strategy=one).lines()) for one in ("caq", "qac+")
    )

    assert plus == caq
    assert "".join(caq) != ""


@pytest.mark.parametrize(("text", "shells"), QUERIES.items())
def test_only_what_is_passed_is_a_shell(text: str, shells: set[int]) -> None:
    history = _history()
    choice = chosen(query(text).program, {"credit": history}, "qac+").streams["credit"]

    assert choice.shells == shells
