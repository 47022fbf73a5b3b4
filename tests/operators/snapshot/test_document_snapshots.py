"""Snapshots of queries over documents: started again, they go on amid the document."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.operators.snapshot.going_on import going_on, snapshot
from tests.operators.watched import Watched
from xstreamcast.errors import Error
from xstreamcast.operators.feeds.document import DocumentFeed, WholeDocument
from xstreamcast.operators.feeds.split import SplitFeed
from xstreamcast.operators.relational import advance
from xstreamcast.operators.relational.folds.accumulate import AccumulateOperator
from xstreamcast.operators.relational.orders.growing import FirstRows
from xstreamcast.operators.snapshot.arrow import NotNow

KINDS = {"s": "document"}
ITEMS = 'stream("s")/r/s/i'
QUERIES = {
    "filter": f"for $i in {ITEMS} where $i/@v > 3 return <o>{{$i/@v, $i/text()}}</o>",
    "folds": f"<all n='{{count({ITEMS})}}' s='{{sum({ITEMS}/@v)}}' m='{{max({ITEMS}/@v)}}'/>",
    "mean": f"(avg({ITEMS}/@v), min({ITEMS}/@k/string()), exists({ITEMS}[@v = 9]))",
    "around": '(count(stream("s")//i[@v = 3]/..), count(stream("s")//i[@k]/ancestor::*//i))',
    "groups": f"for $i in {ITEMS} group by $k := $i/@k return <g k='{{$k}}' n='{{count($i)}}'"
    " s='{sum($i/@v)}' a='{avg($i/xs:decimal(@v))}' m='{min($i/string(@v))}'/>",
    "numbers as keys": f"for $i in {ITEMS} group by $v := $i/number(@v) return <g>{{$v,"
    " count($i)}</g>",
    "items of groups": f"for $i in {ITEMS} group by $k := $i/@k return <g>{{$i/@v/string()}}</g>",
    "first": f"({ITEMS})[position() = 2 to 4]/@v/string()",
    "last": f"({ITEMS})[position() > last() - 3]/@v/string()",
    "numbered": f"for $i at $p in {ITEMS} return <p>{{$p, $i/@v/string()}}</p>",
    "ordered": f"for $i in {ITEMS} order by $i/@v, $i/@k return <o>{{$i/@v/string()}}</o>",
    "joined": f"for $a in {ITEMS}, $b in {ITEMS} where $a/@k = $b/@v"
    " return <j>{$a/@v/string(), $b/@k/string()}</j>",
    "looked up": f"for $a in {ITEMS} return <l n='{{count({ITEMS}[@k = $a/@v])}}'/>",
    "tumbling": f"for tumbling window $w in {ITEMS} start $a when true() end next $n"
    " when $n/@k != $a/@k return <w>{$w/@v/string()}</w>",
    "folded window": f"for tumbling window $w in {ITEMS} start $a when true() only end next $n"
    " when $n/@k != $a/@k return <w k='{$a/@k}' n='{count($w)}' s='{sum($w/@v)}'/>",
    "folded as it grows": f"for tumbling window $w in {ITEMS} start when true() end $n"
    " when $n/@k = 'c' return <w n='{count($w)}' s='{sum($w/@v)}' m='{max($w/@v)}'/>",
    "sliding": f"for sliding window $w in {ITEMS} start at $p when true() only end at $q"
    " when $q - $p = 2 return <w>{avg($w/@v)}</w>",
    "landmark": f"for sliding window $w in {ITEMS} start $a when $a/@v = 3 end $e"
    " when $e/@v > $a/@v return <w>{$w/@v/string()}</w>",
    "looked up ends": f"for sliding window $w in {ITEMS} start $a when true() only end $e"
    " when xs:integer($e/@v) - xs:integer($a/@v) ge 2 return <w>{$w/@v/string()}</w>",
    "windows by key": f"for $k in distinct-values({ITEMS}/@k) for tumbling window $w in"
    f" {ITEMS}[@k = $k] start at $p when true() end at $q when $q - $p = 1"
    " return <w k='{$k}'>{$w/@v/string()}</w>",
    "group over windows": "for $w in (for tumbling window $w in " + ITEMS + " start at $p when"
    " true() end at $q when $q - $p = 1 return <w s='{sum($w/@v)}'/>) group by $s := $w/@s"
    " return <g s='{$s}' n='{count($w)}'/>",
    "first of an order": f"(for $i in {ITEMS} order by number($i/@v) descending, $i/@k"
    " return $i)[position() le 3]",
    "first values of an order": f"head(for $i in {ITEMS} order by $i/@k, xs:integer($i/@v)"
    " return <x>{$i/@*, string($i)}</x>)",
    "whole": 'stream("s")/r/s[last()]/i/path()',
}
# class: (what a snapshot has, what is made again or holds only during a tick); compare
# test_what_is_kept, which has the classes that queries over fragments have too
KEPT = {
    "AccumulateOperator": ("_folds _made _outer", "_cells _node"),
    "_Fold": ("_count _folded", "_column _name _tuples _units"),
    "CountedAround": ("_found _total _waiting", "_below_test _column _name _tuples _units"),
    "FirstRows": ("_count", "_first _kept _last"),
    "LastRows": ("_rows", "_kept _shown"),
    "TopRows": (
        "_kinds _made _rows _samples _targets",
        "_at _follow _kept _limit _negates _node",
    ),
    "GrowingNumber": ("_count", "_cells"),
    "GrowingGroup": ("_made by_double groups", "_cells _folded _kept _names _node"),
    "RunningGroup": ("cells folds rank", ""),
    "RunningCount": ("count", "_name"),
    "RunningSum": ("count double exact other tags waiting", "_deferred _name"),
    "RunningExtreme": ("best count other waiting", "_deferred _name"),
    "LibraryFold": ("count folded", "_name"),
    "GrowingWindowOperator": ("_shown windows", "_node"),
    "Windows": (
        "_again _decided _provisional arrived buffer folding opened pairs_asked",
        "_document _rows shape",
    ),
    "WindowsByKey": ("_decided _places _waiting each", "_document _rows by shape"),
    "Opened": ("_at_last index keys open settled", "_ahead kind shape"),
    "ComparedKeys": ("_left _right way", "key"),
    "Folding": ("_counts _values first since", "shape"),
    "Buffer": ("segments", ""),
    "Segment": ("items made_of places tapes", ""),
    "DocumentFeed": ("_places _reading counted units", "_cuts _held _names name"),
    "SplitFeed": (
        "_kept _places _reading cut drops keeps raw units",
        "_alive _cuts _dead _names _whole held name",
    ),
    "WholeDocument": ("_before _raw ended units", "_kept _names _reading name"),
    "KeptUnits": ("_firsts _parts", ""),
    "_Part": ("dead minis numbers", ""),
}  # fmt: skip
item = st.tuples(st.integers(0, 9), st.sampled_from("abc3"), st.sampled_from(["", "&amp;", "é"]))
words = st.sampled_from(["", ' t="&lt;x&apos;"'])
sections = st.lists(st.tuples(words, st.lists(item, max_size=5)))


def document(parts: list[tuple[str, list[tuple[int, str, str]]]]) -> bytes:
    """Sections with items, white space and comments between them."""
    said = []
    for attribute, items in parts:
        inside = "\n  ".join(f'<i v="{v}" k="{k}">{text}</i>' for v, k, text in items)
        said.append(f"<s{attribute}>text<!-- {len(items)} -->{inside}</s>")
    body = "\n".join(said)
    return f'<r xmlns:n="urn:n" a="1">\n{body}\n</r>\n'.encode()


def fed(running: Watched, chunk: bytes) -> list[str] | str:
    """What is told of a chunk, to the byte; or how it fails."""
    try:
        running.watch.on_bytes("s", chunk)
        return [one.to_json() for one in running.watch.tick()]
    except Error as refused:
        return str(refused)


def ended(running: Watched) -> list[str]:
    running.watch.on_end("s")
    return [one.to_json() for one in running.watch.tick()]


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@settings(
    deadline=None,
    max_examples=examples(12),
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(sections, st.lists(st.integers(0, 700), min_size=1, max_size=5))
def test_what_is_told_after_a_snapshot_is_what_is_told_without(query, parts, cuts):
    raw = document(parts)
    ends = [*sorted({min(cut, len(raw)) for cut in cuts}), len(raw)]
    whole = Watched(query, KINDS)
    others: list[Watched] = []
    for begin, end in zip([0, *ends], ends, strict=False):
        told = fed(whole, raw[begin:end])
        assert all(fed(other, raw[begin:end]) == told for other in others)
        try:
            made = snapshot(whole)
        except NotNow:  # nothing has come yet, or it fails over what has
            continue
        others.append(going_on(made, query, KINDS))
        again = snapshot(going_on(snapshot(others[-1]), query, KINDS))
        assert snapshot(going_on(again, query, KINDS)) == again
    last = ended(whole)
    assert all(ended(other) == last for other in others)


def operators_of(running: Watched) -> list[Any]:
    run = running.watch.pipeline
    assert run is not None
    assert run._operators is not None
    return run._operators.all


def test_every_operator_and_feed_is_met():
    met: set[type] = set()
    for query in QUERIES.values():
        running = Watched(query, KINDS)
        running.watch.on_bytes("s", document([("", [(3, "a", "")])])[:-9])
        running.watch.tick()
        met |= {type(one) for one in operators_of(running)}
        met.add(type(running.watch._feeds["s"]))
    growing = {getattr(advance, one) for one in dir(advance) if one.startswith(("Growing", "Last"))}
    assert growing | {FirstRows, AccumulateOperator} <= met
    assert {DocumentFeed, SplitFeed, WholeDocument} <= met


@pytest.mark.parametrize("query", ["filter", "joined"])
def test_an_error_behind_a_snapshot_says_where_it_is(query):
    raw = document([("", [(3, "a", "")] * 3)])
    whole = Watched(QUERIES[query], KINDS)
    whole.feed("s", raw[:120])
    other = going_on(snapshot(whole), QUERIES[query], KINDS)
    wrong = raw[120:150] + b"\n</wrong>"
    told = fed(whole, wrong), fed(whole, b" ")
    assert (fed(other, wrong), fed(other, b" ")) == told
    assert "XSCX" in str(told)


def test_another_document_follows_one_that_ended_before_a_snapshot():
    query = QUERIES["groups"]
    raw = document([("", [(3, "a", "")])])
    whole = Watched(query, KINDS)
    whole.feed("s", raw)
    other = going_on(snapshot(whole), query, KINDS)
    for running in (whole, other):
        running.watch.on_next_document("s")
    assert fed(other, raw) == fed(whole, raw) != []


def test_units_that_no_row_needs_go_after_a_restart_too():
    query = f"for $i in ({ITEMS})[position() > last() - 3] return $i/text()"
    whole, raw = Watched(query, KINDS), document([("", [(3, "a", "x")] * 60)])
    whole.feed("s", raw[:900])
    other = going_on(snapshot(whole), query, KINDS)
    for running in (whole, other):
        fed(running, raw[900:1500])
        feed = running.watch._feeds["s"]
        assert isinstance(feed, SplitFeed)
        assert len(feed._kept) < 9


def test_a_document_type_has_no_snapshot():
    from xstreamcast.operators.snapshot.arrow import Unwritten

    whole = Watched(QUERIES["filter"], KINDS)
    whole.feed("s", b'<!DOCTYPE r [<!ENTITY e "x">]><r><s><i v="4">&e;</i>')
    with pytest.raises(Unwritten):
        snapshot(whole)


def attributes(one: object) -> set[str]:
    slots = (getattr(made, "__slots__", ()) for made in type(one).__mro__)
    words = {word for own in slots for word in ([own] if isinstance(own, str) else own)}
    return (words | set(getattr(one, "__dict__", ()))) - {"__weakref__"}


def objects(one: object) -> dict[str, set[str]]:
    """The attributes of all classes of ours below an object, by the names of the classes."""
    found: dict[str, set[str]] = {}
    todo, known = [one], []
    while todo:
        one = todo.pop()
        if isinstance(one, dict | list | tuple | set | frozenset):
            todo += one.values() if isinstance(one, dict) else one
        elif type(one).__module__.startswith("xstreamcast.operators") and id(one) not in known:
            known.append(id(one))
            found.setdefault(type(one).__name__, set()).update(attributes(one))
            parts = attributes(one) - {"_node", "shape"}
            todo += [getattr(one, word) for word in parts if hasattr(one, word)]
    return found


def test_nothing_that_is_kept_of_a_document_is_forgotten():
    found: dict[str, set[str]] = {}
    for query in QUERIES.values():
        running = Watched(query, KINDS)
        running.watch.on_bytes("s", document([("", [(3, "a", ""), (4, "b", "x")] * 4)])[:-9])
        running.watch.tick()
        feeds = list(running.watch._feeds.values())
        for name, words in objects([operators_of(running), feeds]).items():
            found.setdefault(name, set()).update(words)
    assert found.keys() >= KEPT.keys()
    for name, (has, made) in KEPT.items():
        assert found[name] == set(has.split()) | set(made.split()), name
