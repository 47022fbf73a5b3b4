"""Nothing is forgotten: whatever a class keeps is in its snapshot, or is made again from that.

A test fails here when a class gets an attribute: say in `operators/snapshot` what becomes of it,
then add it to its list.
"""

from __future__ import annotations

import pytest

from tests.operators.snapshot.going_on import going_on, snapshot
from tests.operators.watched import Watched
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.operators.relational.run import CircuitRun

# class: (what a snapshot has, what is made again or holds only during a tick)
KEPT = {
    "RootRow": ("_there", "_node"),
    "UnitRows": ("_there _timers", "_node _whole _content"),
    "RowsOperator": ("_scalars _rows _made", "_node _used _copied _again _keeps _columns _late"),
    "SpineRows": ("_there", "_node _view"),
    "WithinOperator": (
        "_outer _units _element",
        "_node _at _cells _view _outers _inside",
    ),
    "CountAroundOperator": (
        "_rows _made",
        "_node _depths _below _view _found _elements _own _whole _inside _counts _total",
    ),
    "JoinOperator": ("_left _right _mode", "_node _cells owns _adds _inputs _reads"),
    "JoinSide": ("rows values _mode", "op _kinds _hashed _sorted _loose"),
    "NestOperator": ("_outer _states _made", "_node _cells _columns _adds _others"),
    "GroupOperator": (
        "_rows _name _made",
        "_node _names _folded _cells _groups _inexact elsewhere _by_double",
    ),
    "MembersOperator": (
        "_rows _name",
        "_node _names _kept _inexact elsewhere _by_double _groups _firsts",
    ),
    "OrderOperator": ("_rows _made _samples _targets", "_node _at _kept _kinds _negates"),
    "SliceOperator": ("_rows _shown", "_node _kept _orders"),
    "PickOperator": ("_rows _shown _places", "_node _kept _orders"),
    "NumberOperator": ("_rows _made", "_node _cells _orders"),
    "UnionOperator": ("", "_node _kept"),
    "WindowOperator": (
        "_rows _items _made",
        "_node _search _absolute _of _finder _walk _pairs _landmark _marked",
    ),
    "Once": ("", "_fold _parts _held"),  # groups make their folds again
    "WindowItems": ("_label _first _last _name _slot _free", "order _bounds"),
    "Counted": ("_count", "_name"),
    "Gathered": ("_order _cells", "_fold"),
    "Summed": ("_rows", "_fold _strange _slow _total _seconds _tags _entries _values"),
    "Extreme": ("_rows", "_fold _strange _slow _sorted _tags"),
    "Timers": ("_next", "_timing _heap"),
    "RangeFoldOperator": (
        "_outer _inner _mode _made",
        "_node _upward _summary _column _cells _index _sorted _entries _bounds _known _full",
    ),
    "RangeFoldBy": (
        "_equal _ranges _made",
        "_node _column _cells _modes _parts _outer_in _inner_in _several",
    ),
    "BandFoldOperator": (
        "_low _high _inner _made",
        "_node _summary _column _cells _index _bands _entries _band _mode _known",
    ),
    "RangeSide": ("rows cells", "_node _plan _smallest tags _failed _several"),
    "BandJoinOperator": (
        "_low _high _right",
        "_node _cells _mode _bands _band _sorted _entries",
    ),
    "IntervalJoinOperator": ("_left _right _clock", "_node _cells"),
    "_Side": ("rows spans", "_plan _hull _used index"),
    "Emit": ("_entries _ranks _settled _tail", "_rendering _passes _order _root"),
    "Operators": (
        "all fresh",
        "_nodes _inlined _inputs _first _numbers _root _final _columns failing passing",
    ),
    "CircuitRun": (
        "_operators _emit evaluated",
        "circuit _order _waited _failing _final _once _passing",
    ),
    "History": (
        "name structure store ids fragments holes arrived repeated removals newest zoned latest"
        " attaches _said _seed",
        "text_codes _slots _tapes _chains _attached _guide _containment",
    ),
    "ForgettingFeed": (
        "history strict until _planned _due _taken _places _attached _of_root _gone _dead dropped"
        " kept _conforming _looked _first _since _batches _weighed _least _lost _dropped _closed"
        " _by_version",
        "cut timed mine shared settles lateness"
        " _links _insides _verdict _verdicts _root _units _code_of _at"
        " _keys _place_codes _unit_codes _unit_places _cache _is_unit _index_of _grown _program"
        " _fixed _thin _seen _wanted _evaluated versioned _other_units _spine _sieve _held"
        " moves_clock",
    ),
    "VersionUnits": (
        "units until root _slots _holes _rows _root_codes _versions dirty gone moved _done _first",
        "ranks is_slot known cut _history _links _types _levels _passed _wanted"
        " _payload _tsid _within now current ends _spine"
        " _sifting _silent _later _sifted _latest _layered",
    ),
    "Decoder": (
        "ids structure counts ended _reading _early",
        "name on_error names _words _known _waiting more _numbers _said",
    ),
}

HEAD = b"""<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>
<tag id="1" name="r" type="snapshot"><tag id="2" name="u" type="temporal">
<tag id="3" name="k" type="snapshot"/><tag id="4" name="v" type="snapshot"/></tag></tag>
</stream:structure><stream:filler id="0" tsid="1" validTime="2020-01-01T00:00:00"><r>
<stream:hole id="1" tsid="2"/></r></stream:filler>"""


def unit(number: int, minute: int, k: str, v: str, more: str = "") -> bytes:
    """A version of a unit; all but the first are attached to the root, and need no hole."""
    at = f'id="{number}" tsid="2" validTime="2020-01-01T00:{minute:02}:00" {more}'
    at += ' in="0"' if number > 1 else ""
    return f"<stream:filler {at}><u><k>{k}</k><v>{v}</v></u></stream:filler>".encode()


UNITS = [
    unit(1, 1, "a", "3"), unit(7, 2, "b", "1.5"), unit(3, 3, "a", "2"), unit(5, 4, "c", "x"),
    unit(4, 40, "a", "9", 'validTo="2020-01-01T00:55:00"'), unit(3, 20, "b", "2e0"),
    unit(6, 21, "c", "-0"), unit(2, 22, "a", "4"), unit(1, 45, "a", "5"), unit(9, 59, "d", "1"),
]  # fmt: skip

QUERIES = {
    "joined": """for $a in stream("s")//u, $b in stream("s")//u where $a/k = $b/k
        return <p>{$a/v/text(), $b/v/text()}</p>""",
    "smaller": """for $a in stream("s")//u, $b in stream("s")//u
        where number($a/v) < number($b/v) return concat($a/v, " ", $b/v)""",
    "nested": """for $a in stream("s")//u
        let $same := for $b in stream("s")//u where $b/k = $a/k return $b
        return <p>{count($same), sum($same/v ! number(.)), string-join($same/v, "+"),
        max($same/v ! number(.))}</p>""",
    "grouped": """for $a in stream("s")//u group by $k := string($a/k)
        order by sum($a/v ! number(.)) descending, $k
        return <g k="{$k}">{min($a/v ! string(.)), count($a)}</g>""",
    "numbered": """for $a at $n in stream("s")//u order by $a/v descending count $c
        return concat($n, $c, $a/v)""",
    "top": """(for $a in stream("s")//u order by $a/v return $a/v/text())[position() = 2 to 4]""",
    "rest": """subsequence(for $a in stream("s")//u order by $a/v return string($a/v), 3)""",
    "picked": """(for $a in stream("s")//u order by $a/v return $a)
        [count(stream("s")//u[v = "2"])]""",
    "medians": """for $a in stream("s")//u group by $k := string($a/k)
        let $s := sort($a/v ! number(.))
        return <g>{$k, $s[position() = ((count($s) + 1) idiv 2, count($s) idiv 2 + 1)]}</g>""",
    "rooted": """for $r in stream("s")/r return <n>{count($r//u)}</n>""",
    "elements": """for $r at $n in stream("s")/r return <n>{$n, count($r//u)}</n>""",
    "around": """count(stream("s")//u[k = "a"]/..)""",
    "windows": """for sliding window $w in stream("s")//u start at $i when true()
        only end at $j when $j - $i = 1 return <w>{$w/v/text()}</w>""",
    "landmark": """for tumbling window $w in stream("s")//u start $x when $x/k = "a"
        return <w>{count($w)}</w>""",
    "window folds": """forseq $w in stream("s")//u tumbling window start curItem $x
        when $x/k = "a" end curItem $y when $y/k = "z"
        return <w>{ sum($w/v[. castable as xs:double]/number(.)), count($w) }</w>""",
    "same values": """forseq $w in stream("s")//u landmark window start curItem $x when true()
        force end curItem $y when $x/k = $y/k return <w>{ count($w), $x/v }</w>""",
    "pairs in groups": """for $x in stream("s")//u, $y in stream("s")//u where $x/k = $y/k
        group by $g := string($y/v[1]) return <g>{ $g, count($x/v) }</g>""",
    "constructed": """for $p in (for $a in stream("s")//u order by $a/k
        return <p><q>{$a/v/text()}</q><n>{$a/k}</n></p>) group by $q := string($p/n)
        return <g>{$p/q[1], $p[last()]/n}</g>""",
    "shares": """let $all := sum(stream("s")//u/v[. castable as xs:decimal] ! xs:decimal(.))
        for $a in stream("s")//u return concat($a/v, " of ", $all)""",
    "clock": """count(stream("s")//u?[now - PT10M, now])""",
    "timers": """for $a in stream("s")//u where exists($a?[now - PT10M, now])
        group by $k := string($a/k) return <g>{$k, count($a)}</g>""",
    "by now": """for $a in stream("s")//u?[now] group by $k := $a/k
        return <g>{$k, count($a)}</g>""",
    "both": """for $a in (stream("s")//u[k = "a"], stream("s")//u[k = "b"]) order by $a/v
        return $a/v""",
    "during": """for $a in stream("s")//u, $b in stream("s")//u
        where $a before $b return concat($a/v, " ", $b/v)""",
    "above": """for $a in stream("s")//u
        return concat($a/v, ":", count(stream("s")//u[number(v) < number($a/v)]))""",
    "between": """for $a in stream("s")//u return concat($a/v, ":", string-join((
        count(stream("s")//u[number(v) > number($a/v) - 3 and number(v) <= number($a/v)]),
        sum(stream("s")//u[number(v) >= number($a/v)][number(v) < number($a/v) + 2]/v/number(.))
        ) ! string(.), " "))""",
    "above of its kind": """for $a in stream("s")//u
        return concat($a/v, ":", count(stream("s")//u[k = $a/k][number(v) < number($a/v)]))""",
    "pairs between": """for $a in stream("s")//u, $b in stream("s")//u
        where number($b/v) >= number($a/v) - 2 and number($b/v) < number($a/v)
        return concat($a/v, " ", $b/v)""",
    "first few": """for $a in stream("s")//u
        let $rank := count(stream("s")//u[number(v) > number($a/v)]) + 1
        where $rank <= 2 order by $rank return concat($rank, ":", $a/v)""",
    "plain": """stream("s")//u[number(v) > 1]""",
    "dates": """for $a in stream("s")//u group by $t := vtFrom($a) - vtFrom($a) return count($a)""",
}


def known(one: object) -> set[str]:
    made = vars(one) if hasattr(one, "__dict__") else {}
    return set(made)


def objects_of(running: Watched) -> list[object]:
    """Everything of a running query that has state."""
    found: list[object] = [running.watch.pipeline, *running.watch._feeds.values()]
    todo = list(found) + list(running.decoders.values())
    found = []
    while todo:
        one = todo.pop()
        if type(one).__name__ in KEPT and not any(one is other for other in found):
            found.append(one)
            todo += [inner for part in vars(one).values() for inner in parts_of(part)]
    return found


def parts_of(part: object) -> list[object]:
    if isinstance(part, dict):
        return [inner for one in part.values() for inner in parts_of(one)]
    if isinstance(part, list | tuple):
        return [inner for one in part for inner in parts_of(one)]
    folds = getattr(part, "folds", None)
    return parts_of(folds) if folds is not None else [part]


@pytest.mark.parametrize("text", QUERIES.values(), ids=QUERIES)
def test_what_is_told_after_a_snapshot(text: str):
    kinds = {"s": "fragments"}
    whole = Watched(text, kinds)
    whole.feed("s", HEAD)
    met: set[str] = set()
    for piece in UNITS:
        half = len(piece) // 2
        whole.feed("s", piece[:half])  # a snapshot amid a fragment
        assert isinstance(whole.watch.pipeline, CircuitRun), text
        other = going_on(snapshot(whole), text, kinds)
        for one in objects_of(whole):
            kept, made = (set(names.split()) for names in KEPT[type(one).__name__])
            assert known(one) <= kept | made, type(one).__name__
            met.add(type(one).__name__)
        before = len(whole.changes)
        whole.feed("s", piece[half:])
        other.watch.on_arrivals(
            "s", other.decoders["s"].feed(piece[half:]), other.decoders["s"].ids
        )
        told = [change.to_json() for change in other.watch.tick()]
        assert told == [change.to_json() for change in whole.changes[before:]]
    assert whole.told.items() == whole.afresh()
    assert len(whole.changes) > 2
    assert {"CircuitRun", "Emit", "History", "ForgettingFeed", "Decoder"} <= met


def test_every_class_is_met():
    """The queries above use every operator that there is."""
    met: set[str] = set()
    for text in QUERIES.values():
        running = Watched(text, {"s": "fragments"})
        for piece in (HEAD, *UNITS):
            running.feed("s", piece)
        met |= {type(one).__name__ for one in objects_of(running)}
    assert met == set(KEPT)


def test_repetitions_are_known_after_a_snapshot():
    text, kinds = QUERIES["grouped"], {"s": "fragments"}
    whole = Watched(text, kinds)
    for piece in (HEAD, *UNITS):
        whole.feed("s", piece)
    other = going_on(snapshot(whole), text, kinds)
    decoder = other.decoders["s"]
    assert isinstance(decoder, Decoder)
    again = b"".join(UNITS).replace(b"stream:filler", b"stream:repeat")
    other.watch.on_arrivals("s", decoder.feed(again), decoder.ids)
    assert other.watch.tick() == []
    assert other.watch.repeated("s") == len(UNITS)
