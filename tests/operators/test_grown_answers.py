"""Answers that only grow, read by queries that keep values of their items and no nodes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operators.snapshot.test_checkpoint_documents import Runs
from tests.operators.test_once import (
    BODIES,
    KINDS,
    ROUNDS,
    TOGETHER,
    answered,
    document,
)
from xstreamcast import query
from xstreamcast.circuit.inputs.grown import only_grows
from xstreamcast.model.change import Change
from xstreamcast.operators.feeds.grown import GrownFeed
from xstreamcast.operators.relational.joins.appended_side import CodedColumn
from xstreamcast.operators.relational.joins.value_lookup import ValueLookup
from xstreamcast.operators.watching.network import Network
from xstreamcast.tape.names import Names

STREAMS = """declare option xsc:once "ask";
declare stream put := for $s in stream("log")/log/set where $s/@v != 4
  return <put k="{$s/@k}" v="{$s/@v}" w="{if ($s/@v = 3) then 'x' else $s/@v}"/>;
declare stream ask := for $a in stream("log")/log/ask group by $n := $a/@n
  return <ask n="{$n}" k="{min($a/@k)}" x="{if ($n = '7') then 'x' else $n}"/>;
"""
LOOKUPS = [
    "for $a in stream('ask')/answer/ask let $v := for $p in stream('put')/answer/put"
    " where $p/@k = $a/@k and number($p/@v) le 5 return number($p/@v)"
    " return <s n='{$a/@n}'>{sum($v[position() lt last()])}</s>",
    "for $a in stream('ask')/answer/ask return <s>{$a/@n, for $p in stream('put')/answer/put"
    " where $p/@w = $a/@x return string($p/@k)}</s>",
    "for $a in stream('ask')/answer/ask return <s>{$a/@n, count(for $p in stream('put')/answer/put"
    " where $p/@k = number($a/@k) return string($p/@v))}</s>",
    # where a number is wanted and a text comes, all rows may compare: the error is the same
    "for $a in stream('ask')/answer/ask return <s>{$a/@n, sum(for $p in stream('put')/answer/put"
    " where $p/@w = number($a/@k) return number($p/@v))}</s>",
    "for $a in stream('ask')/answer/ask for $p in stream('put')/answer/put"
    " where $p/@k = $a/@k return 12 idiv (number($p/@v) - 2)",
    "for $a in stream('ask')/answer/ask return <s>{$a/@n, for $p in stream('put')/answer/put"
    " where ($p/@k, $p/@v) = ($a/@k, $a/@n) return concat($p/@k, '-', $p/@v)}</s>",
]


def values_are_kept(body: str) -> bool:
    network = Network(query(STREAMS + body).programs, KINDS)
    watch = network.watches[""]
    assert watch.pipeline is not None
    lookups = [o for o in watch.pipeline.fresh_operators().all if isinstance(o, ValueLookup)]
    return bool(lookups) and isinstance(watch._feeds["put"], GrownFeed)


def test_of_which_values_alone_are_kept():
    assert [body for body in LOOKUPS if not values_are_kept(body)] == []
    whole = "for $a in stream('ask')/answer/ask, $p in stream('put')/answer/put[@k = $a/@k]"
    assert not values_are_kept(f"{whole} return $p")  # the node is part of the answer
    order = "for $a in stream('ask')/answer/ask, $p in stream('put')/answer/put[@k > $a/@k]"
    assert not values_are_kept(f"{order} return string($p/@v)")  # no equality


@pytest.mark.parametrize("body", LOOKUPS)
@settings(deadline=None, max_examples=20)
@given(ROUNDS, st.lists(st.integers(0, 600), max_size=5))
def test_values_give_what_rows_give(body, rounds, cuts):
    raw, text = document(rounds), STREAMS + body
    found = answered(text, raw, cuts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xstreamcast.operators.relational.advance.keeps_values", lambda _: False)
        assert found == answered(text, raw, cuts)


OTHERS = [
    body.replace("stream('price')/answer/price", "stream('put')/answer/put")
    for body in (*BODIES, *TOGETHER)
    if "price" in body
]


@pytest.mark.parametrize("body", [*LOOKUPS, *OTHERS])
@settings(deadline=None, max_examples=10)
@given(ROUNDS, st.lists(st.integers(0, 600), max_size=5))
def test_whatever_reads_what_only_grows_gives_what_it_gave(body, rounds, cuts):
    raw, text = document(rounds), STREAMS + body
    found = answered(text, raw, cuts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xstreamcast.operators.watching.inputs.only_grows", lambda *_: False)
        assert found == answered(text, raw, cuts)


CLOSED = """declare option xsc:once "ask";
declare stream put := for tumbling window $w in stream("log")/log/set start $a when true()
  only end next $b when $b/@k != $a/@k return <put k="{$a/@k}" v="{sum($w/@v)}"/>;
declare stream ask := stream("log")/log/ask;
for $a in stream("ask")/answer/ask return <s>{$a/@n, for $p in stream("put")/answer/put
  where $p/@k = $a/@n return string($p/@v)}</s>"""


@settings(deadline=None, max_examples=30)
@given(ROUNDS, st.lists(st.integers(0, 600), max_size=5))
def test_windows_that_have_ended_only_grow(rounds, cuts):
    """A group of what came is looked up, as it was when the question came."""
    raw = document(rounds)
    found = answered(CLOSED, raw, cuts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xstreamcast.operators.watching.inputs.only_grows", lambda *_: False)
        assert found == answered(CLOSED, raw, cuts)


def test_windows_that_may_still_change_do_not_count_as_growing():
    grown = Network(query(CLOSED).programs, KINDS).watches
    assert grown["put"].only_grows
    assert grown["ask"].only_grows
    open_too = Network(query(CLOSED.replace("only end", "end")).programs, KINDS).watches
    assert not open_too["put"].only_grows
    sliding = Network(query(CLOSED.replace("tumbling", "sliding")).programs, KINDS).watches
    assert not sliding["put"].only_grows


def test_a_circuit_that_may_be_planned_again_does_not_count_as_growing():
    watch = Network(query(CLOSED).programs, KINDS).watches["put"]
    assert watch.pipeline is not None
    assert only_grows(watch.pipeline.circuit, frozenset())
    assert not only_grows(replace(watch.pipeline.circuit, hasty=True), frozenset())


def test_an_error_that_goes_away_has_all_items_again():
    """What was compressed is read again after a tick that failed."""
    text = STREAMS + (
        "for $a in stream('ask')/answer/ask return sum(for $p in stream('put')/answer/put"
        " where $p/@k = $a/@k return 12 idiv (number($p/@v) - 2))"
    )
    raw = '<log><set k="0" v="1"/><set k="1" v="2"/><ask k="0" n="0"/><ask k="1" n="1"/></log>'
    whole = answered(text, raw, [])
    assert "FOAR0001" in whole[0]
    assert answered(text, raw, [30, 60, 90]) == whole


def test_blocks_of_items_are_found_again():
    feed = GrownFeed("s", Names())
    items = [f'<i n="{n}">ä</i>' for n in range(10_000)]
    for at in range(0, 10_000, 999):
        moved = feed.feed(
            [Change(0, 1, str(n), None, one) for n, one in enumerate(items[at : at + 999])]
        )
        assert moved.changed is not None
    assert list(feed.items()) == items
    assert feed.state_bytes < 100_000
    some = feed.again(["9999", "4096", "0"]).changed
    assert some is not None
    assert some.keys == ("0", "4096", "9999")
    assert feed.everything().changed is not None


@given(st.lists(st.one_of(st.text(max_size=3), st.integers(-3, 3)), max_size=30))
def test_a_coded_column_gives_its_values(values):
    column: CodedColumn[object] = CodedColumn()
    for one in values:
        column.append(one)
    assert [column[row] for row in range(len(column))] == values
    assert len(column.different) == len(set(values))
    again: CodedColumn[object] = CodedColumn()
    again.fill(column.different, column.codes)
    again.append("new")
    assert [again[row] for row in range(len(again))] == [*values, "new"]


@pytest.mark.parametrize("text", [STREAMS + LOOKUPS[0], STREAMS + LOOKUPS[3], CLOSED])
def test_a_restart_goes_on_with_the_same_changes(text: str, tmp_path: Path):
    rounds = [([k % 5, (k * 7) % 9], [k % 12, (k * 5) % 12]) for k in range(40)]
    if text is not CLOSED and "@w" in text:
        rounds = [([v for v in values if v != 3], asked) for values, asked in rounds]
    raw = document(rounds).encode()
    pieces = [raw[at : at + 133] for at in range(0, len(raw), 133)]
    whole = Runs(tmp_path / "whole", text, "log", pieces=pieces)
    whole.go_on(None)
    assert len(whole.sink) >= 5
    for ticks in (2, 5, 9):
        stopped = Runs(tmp_path / str(ticks), text, "log", pieces=pieces)
        stopped.go_on(ticks)
        stopped.go_on(3)
        stopped.go_on(None)
        assert stopped.snapshots
        assert stopped.notes == []
        assert stopped.sink == whole.sink, ticks
