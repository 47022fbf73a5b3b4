"""Of fragments only what a query sees is written, and nobody notices."""

from __future__ import annotations

import pytest

from tests.history.telling import filler, hole, told
from xstreamcast import query
from xstreamcast.history.history import History
from xstreamcast.history.strategy import chosen
from xstreamcast.history.view import View, written

ACCOUNTS = "for $a in stream('credit')//account"
# What is left inside accounts (tag 2), by their paths: elements, texts, everything.
QUERIES = {
    f"{ACCOUNTS} return <n>{{ $a/customer/@k, count($a/charge) }}</n>": (["customer"], [], []),
    f"{ACCOUNTS} return (count($a/customer/name/x), $a/charge/@k/string())": (
        ["customer", "customer/name", "customer/name/x"], [], [],
    ),
    f"{ACCOUNTS} return string-join($a/customer/text(), '|') || count($a/charge)": (
        ["customer"], ["customer"], [],
    ),
    f"{ACCOUNTS} return <n>{{ $a/customer = 'Ann B', count($a/charge) }}</n>": (
        ["customer"], [], ["customer"],
    ),
    f"{ACCOUNTS} return <n>{{ $a/customer/name/string(), $a/charge[1]/@k/string() }}</n>": (
        ["customer", "customer/name"], [], ["customer/name"],
    ),
    f"{ACCOUNTS} return (count($a/customer/comment()), count($a/charge[amount > 4]))": (
        ["customer"], ["customer"], [],
    ),
}  # fmt: skip


def _history() -> History:
    inner = (
        'a<customer k="7">b<name>Ann <x/>B</name>c<!-- d --></customer>e<y><z>1</z>'
        f"{hole(4, 5)}<z/></y>f<p/><q/><s/><t/>{hole(5, 5)}g{hole(6, 5)}h"
    )
    return told(
        [
            filler(5, 5, "7", '<charge k="2"><amount>7</amount><u/><v/></charge>'),
            filler(4, 5, "4", '<charge k="1"><amount>4</amount><u/><v/></charge>'),
            filler(2, 2, "2", f'<account n="1" m="x&amp;y">{inner}</account>'),
            filler(2, 2, "5", f'<account n="2">{inner}</account>'),
            filler(3, 2, "3", "<account><customer>none</customer></account>"),
            filler(0, 1, "1", f"<accounts>{hole(2, 2)}{hole(3, 2)}</accounts>"),
        ]
    )


@pytest.mark.parametrize("text", QUERIES)
def test_trims_change_no_answer(text: str) -> None:
    history = _history()
    caq, plus = (
        list(query(text).run(credit=history, strategy=one).lines()) for one in ("caq", "qac+")
    )

    assert plus == caq
    assert "".join(caq) != ""


@pytest.mark.parametrize(("text", "left"), QUERIES.items())
def test_what_is_seen_is_left(text: str, left: tuple[list[str], ...]) -> None:
    history = _history()
    trim = chosen(query(text).program, {"credit": history}, "qac+").streams["credit"].trims[2]

    for paths, expected in zip((trim.paths, trim.texts, trim.whole), left, strict=True):
        assert sorted("/".join(local for _, local in path) for path in paths) == expected


def _plain() -> View:
    history = _history()
    asked = query(f"{ACCOUNTS} return count($a/customer/text()) + count($a/charge)").program
    choice = chosen(asked, {"credit": history}, "qac+").streams["credit"]
    return written(history, document=False, bounds=False, trims=choice.trims)


def test_holes_stand_where_they_stood_and_text_keeps_its_neighbours() -> None:
    made = _plain()
    tree = made.tape[int(made.row[1])].serialize().decode()

    assert tree == (
        '<account n="1" m="x&amp;y"><customer k="7">b<name/>c<!-- d --></customer>'
        '<y><charge k="1"/></y></account>'
    )
