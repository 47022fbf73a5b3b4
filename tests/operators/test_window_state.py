"""What windows keep, and how often open ones are looked at."""

from __future__ import annotations

import pytest

from tests.operators.test_windows import Told
from xstreamcast.api import compiled
from xstreamcast.operators.relational.explain import explain_circuit
from xstreamcast.operators.watching.explain import unbounded

E = 'stream("s")/r/e'
LOG = "start at $i when true() {0} end at $j when $j - $i eq 9"


def log(first: int, count: int) -> bytes:
    """Items with a number, a key that comes again after 10, and a text."""
    return b"".join(
        b"<e n='%d' k='%d'><t>item number %d</t></e>" % (i, i % 10, i)
        for i in range(first, first + count)
    )


@pytest.mark.parametrize("policy", ["optimistic", "strict"])
@pytest.mark.parametrize(
    "clause",
    [
        f"for tumbling window $w in {E} {LOG.format('')} return sum($w/@n)",
        f"for sliding window $w in {E} {LOG.format('only')} return sum($w/@n)",
        f"for sliding window $w in {E} start $s when $s/@k = '1' only end $e when $e/@k = '4' "
        "return string-join($w/t)",
        f"for sliding window $w in {E} start $s when true() only end $e "
        "when $e/@n - $s/@n ge 12 return string($s/t)",
        f"for tumbling window $w in {E} start $s when $s/@k = '0' return string-join($w/@k)",
    ],
)
def test_what_is_kept_does_not_grow_with_the_items(clause, policy):
    told = Told(clause, policy=policy)
    told.feed(b"<r>")
    held, items = [], []
    for first in range(0, 100_000, 2_000):
        told.feed(log(first, 2_000))
        told.changes.clear()
        held.append(told.watch.state_bytes)
        items.append(len(told.windows.buffer))
    assert max(items[25:]) <= max(items[:5])
    assert max(held[25:]) <= 1.2 * max(held[:5])
    assert len(told.answer) > 9_000


def test_items_of_windows_that_stay_open_are_let_go_where_only_their_start_is_read():
    told = Told(
        f"for sliding window $w in {E} start $s when $s/@k = '3' only end $e "
        "when $e/@n eq concat($s/@n, 'x') return string($s/t)"
    )
    told.feed(b"<r>")
    for first in range(0, 20_000, 500):
        told.feed(log(first, 500))
    windows = told.windows
    assert len(windows.opened) == 2_000
    assert len(windows.buffer) < 7_000
    assert windows.buffer.nbytes < 1_500_000  # of 20,000 items with 6 nodes and 40 bytes each


def test_an_open_window_is_folded_and_lets_its_items_go():
    told = Told(
        f"for tumbling window $w in {E} start $s when true() end next $n when $n/@z "
        "return <w n='{sum($w/@n/xs:integer(.))}' k='{max($w[@k != '9']/@k)}' a='{avg($w/@n)}' "
        "c='{count($w/t)}' s='{$s/@n}' x='{exists($w/x)}'>{ distinct-values($w/@k) }</w>"
    )
    told.feed(b"<r>")
    for first in range(0, 5_000, 100):
        told.feed(log(first, 100))
        assert len(told.windows.buffer) < 500
    keys = " ".join("0123456789")
    total = f"<w n='{sum(range(5000))}' k='8' a='2499.5' c='5000' s='0' x='false'>{keys}</w>"
    assert told.answer.items() == [total.replace("'", '"')]
    told.feed(b"<e k='9' n='7' z=''/>")
    assert told.answer.items()[0] == total.replace("'", '"')
    assert len(told.answer) == 2


def test_only_the_number_of_windows_is_kept_where_only_it_is_asked():
    asked = f"count(for tumbling window $w in {E} {LOG.format('')} where $w/@k = '3' return $w/t)"
    told = Told(asked)
    told.feed(b"<r>" + log(0, 200))
    held = told.watch.state_bytes
    for first in range(200, 10_000, 200):
        told.feed(log(first, 200))
    assert told.answer.items() == ["10000"]
    assert told.watch.state_bytes <= 2 * held
    assert unbounded(compiled(asked)) == []


@pytest.mark.parametrize(
    ("end", "most"),
    [
        ("$e/@x eq $s/@n", 1),  # never: nothing has such a value
        ("$e/@n eq concat($s/@n, '-')", 1),
        ("$e/@n - $s/@n ge 1000000", 15),  # a search in what is sorted
        ("$e/@n eq concat($s/@n, '-') and $e/@k != '1'", 1),
    ],
)
def test_an_item_is_looked_up_once_however_many_windows_are_open(end, most):
    told = Told(
        f"for sliding window $w in {E} start $s when true() only end $e when {end} return 1"
    )
    told.feed(b"<r>" + log(0, 3_000))
    windows = told.windows
    assert len(windows.opened) == 3_000
    probes, pairs = windows.opened.probes, windows.pairs_asked
    told.feed(log(3_000, 100))
    assert windows.opened.probes - probes <= 100 * most
    assert windows.pairs_asked - pairs == 0


@pytest.mark.parametrize(
    ("end", "most"),
    [
        ("$j - $i lt 3 and $e/@k = 'x'", 3),
        ("$j le $i + 4 and $e/@k = 'x'", 5),
        ("$j - $i eq 2 and $e/@k = 'x'", 3),
    ],
)
@pytest.mark.parametrize("clause", ["for sliding window", "landmark"])
def test_windows_that_can_no_longer_end_are_given_up(clause, end, most):
    asked = (
        f"for sliding window $w in {E} start at $i when true() "
        f"only end $e at $j when {end} return 1"
        if clause != "landmark"
        else f"forseq $w in {E} landmark window start position $i when true() "
        f"force end curItem $e, position $j when {end} return 1"
    )
    told = Told(asked)
    told.feed(b"<r>" + log(0, 500))
    told.feed(log(500, 100))
    windows = told.windows
    assert len(windows.opened) <= most
    assert len(windows.buffer) < 200
    if clause != "landmark":
        assert unbounded(compiled(asked)) == []


def test_an_item_is_asked_once_however_many_windows_fold_it():
    told = Told(
        f"for sliding window $w in {E} start at $i when true() end at $j when $j - $i eq 50 "
        "return <w>{ avg($w/@n), max($w/@k), count($w[@k = '1']), $i }</w>"
    )
    told.feed(b"<r>" + log(0, 200))
    windows = told.windows
    assert [one.name for one in windows.shape.folds] == ["avg", "max", "count"]
    assert told.answer.items()[9:11] == [
        f"<w>{i + 24} 9 {len([n for n in range(i - 1, i + 50) if n % 10 == 1])} {i}</w>"
        for i in (10, 11)
    ]


@pytest.mark.parametrize("kind", ["tumbling", "sliding"])
def test_what_depends_on_a_variable_of_the_result_is_not_folded(kind):
    told = Told(
        f"for {kind} window $w in {E} start at $i when $i mod 4 = 1 end at $j when $j mod 4 = 0 "
        "return <w>{ for $x in distinct-values($w/@k) return sum($w[@k eq $x]/@n) }</w>"
    )
    told.feed(b"<r>" + log(0, 8))
    told.feed(log(8, 2))
    assert told.answer.items() == ["<w>0 1 2 3</w>", "<w>4 5 6 7</w>", "<w>8 9</w>"]


def test_other_conditions_are_asked_for_all_pairs_at_once():
    told = Told(
        f"for sliding window $w in {E} start $s when true() only end $e "
        "when $s/@n + $e/@n = -1 return 1"
    )
    told.feed(b"<r>" + log(0, 300))
    windows = told.windows
    pairs = windows.pairs_asked
    told.feed(log(300, 1))
    assert windows.pairs_asked - pairs == 301


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            f"for tumbling window $w in {E} {LOG.format('')} return sum($w/@n)",
            ["tumbling windows over", "the open window, with its sum so far", "bounded: yes"],
        ),
        (
            f"for tumbling window $w in {E} start when true() end $e when $e/@k = '1' return $w/t",
            ["the open window, with its items", 'bounded: no; a window of stream("s") may'],
        ),
        (
            f"for sliding window $w in {E} start $s when true() only end $e "
            "when $e/@n - $s/@n ge 3 return string($s/t)",
            ["looked up by order of values, with the items at which they start", "bounded: no"],
        ),
        (
            f"forseq $w in {E} landmark window start curItem $s when true() end curItem $e "
            "when $s/@k eq $e/@k return count($w)",
            ["looked up by value", 'landmark windows of stream("s") never close'],
        ),
    ],
)
def test_explain_says_what_windows_keep(asked, said):
    told = explain_circuit(compiled(asked))
    for one in said:
        assert one in told
    assert bool(unbounded(compiled(asked))) == ("bounded: no" in told)
