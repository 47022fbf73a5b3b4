"""What a join asks, keeps and releases: not more than the units that meet."""

from __future__ import annotations

import pytest

from tests.operators.watched import Watched
from xstreamcast.errors import Error
from xstreamcast.operators.watching.inputs import Kind

PAIRS = (
    'for $a in stream("a")/r/u, $b in stream("b")/r/u where $a/k = $b/k '
    "return <p>{ $a/v/text(), $b/v/text() }</p>"
)
LOOKED_UP = (
    'for $a in stream("a")/r/u let $b := stream("b")/r/u[k = $a/k] '
    "return <p>{ $a/v/text(), count($b) }</p>"
)
WHOLE = 'try { count(stream("a")/r/u) + count(stream("b")/r/u) } catch * { 0 }'
HEAD = (
    '<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>'
    '<tag id="1" name="r" type="snapshot"><tag id="2" name="u" type="temporal">'
    '<tag id="3" name="k" type="snapshot"/><tag id="4" name="v" type="snapshot"/>'
    "</tag></tag></stream:structure>"
)


def unit(key: object, value: object) -> str:
    return f"<u><k>{key}</k><v>{value}</v></u>"


def filler(number: int, tag: int, payload: str) -> bytes:
    return f'<stream:filler id="{number}" tsid="{tag}">{payload}</stream:filler>'.encode()


def root(*ids: int) -> bytes:
    holes = "".join(f'<stream:hole id="{i}" tsid="2"/>' for i in ids)
    return HEAD.encode() + filler(0, 1, f"<r>{holes}</r>")


def begun(kind: Kind, query: str, size: int = 40, **options) -> Watched:
    """Two inputs with a unit for each of some keys."""
    beside = Watched(query, {"a": kind, "b": kind}, **options)
    for name in "ab":
        if kind == "document":
            beside.feed(name, ("<r>" + "".join(unit(i, i) for i in range(size))).encode())
        else:
            beside.feed(name, root(*range(1, size + 1)), tick=False)
            for i in range(size):
                beside.feed(name, filler(i + 1, 2, unit(i, i)), tick=False)
    beside.tick()
    return beside


def further(kind: str, beside: Watched, name: str, key: object, value: object) -> int:
    """One more unit, or a correction → how many units were asked."""
    before = beside.evaluated
    chunk = unit(key, value).encode()
    beside.feed(name, chunk if kind == "document" else filler(3, 2, chunk.decode()))
    assert beside.told.items() == beside.afresh()
    return beside.evaluated - before


def ended(beside: Watched, name: str) -> None:
    beside.feed(name, b"</r>")
    beside.end(name)


@pytest.mark.parametrize("kind", ["document", "fragments"])
@pytest.mark.parametrize("query", [PAIRS, LOOKED_UP])
def test_a_change_asks_only_the_units_that_it_meets(kind, query):
    beside = begun(kind, query)
    # a correction ends the version before it, which is not evaluated again: nobody sees its end
    assert further(kind, beside, "a", 7, "new") == 1
    # two units of the other have the key 7 by now; a new version of unit 3 has the keys 2 and 7
    assert further(kind, beside, "b", 7, "other") <= 2
    assert further(kind, beside, "b", "none", "other") <= 2


def test_an_input_that_is_read_whole_is_made_once_while_nothing_comes():
    beside = begun("fragments", WHOLE)
    assert not beside.joined
    view = beside.watch._views["b"][0]
    beside.feed("a", filler(3, 2, unit(5, "new")))
    assert beside.watch._views["b"][0] is view
    assert beside.told.items() == beside.afresh()
    beside.feed("b", filler(3, 2, unit(5, "new")))
    assert beside.watch._views["b"][0] is not view
    assert beside.told.items() == beside.afresh()


def test_numbers_and_texts_are_compared_as_the_query_says():
    query = (
        'for $a in stream("a")/r/u, $b in stream("b")/r/u '
        "where $a/k = (if ($b/v = 'n') then number($b/k) else $b/k) return <p>{ $a/v, $b/k }</p>"
    )
    beside = Watched(query, {"a": "document", "b": "document"})
    assert beside.joined
    beside.feed("a", b"<r>" + unit("07", "x").encode())
    beside.feed("b", b"<r>" + unit("7", "t").encode())
    assert beside.told.items() == []
    beside.feed("b", unit("7", "n").encode())
    assert beside.told.items() == beside.afresh() == ["<p><v>x</v><k>7</k></p>"]
    beside.feed("a", unit("7.0", "y").encode())
    assert beside.told.items() == beside.afresh()
    beside.feed("a", unit("word", "z").encode())  # it cannot be a number: an error that may mend
    assert beside.watch.failing is not None
    with pytest.raises(Error, match="FORG0001"):  # no unit can take it away any more
        ended(beside, "b")
    assert beside.afresh() is None


@pytest.mark.parametrize("query", [PAIRS, LOOKED_UP])
def test_units_that_only_the_future_of_an_ended_input_could_meet_are_released(query):
    beside = begun("document", query, 400)
    held = beside.watch.state_bytes
    beside.feed("b", "".join(unit(f"none{i}", i) for i in range(2000)).encode())
    assert beside.watch.state_bytes > 2 * held
    ended(beside, "a")
    assert beside.watch.state_bytes < 1.3 * held
    for i in range(50):
        beside.feed("b", unit(f"neither{i}", i).encode())
    assert beside.watch.state_bytes < 1.3 * held
    beside.feed("b", unit(5, "met").encode())
    assert beside.told.items() == beside.afresh()
    ended(beside, "b")
    kept = beside.watch._feeds["b"].state_bytes + beside.watch._feeds["a"].state_bytes
    assert kept < 200
    assert beside.told.items() == beside.afresh()


def test_when_the_other_input_has_ended_driven_units_are_not_kept():
    beside = begun("document", LOOKED_UP, 200)
    ended(beside, "b")
    held = beside.watch._feeds["a"].state_bytes
    for i in range(20):
        beside.feed("a", unit(i, f"late{i}").encode())
        assert beside.told.items() == beside.afresh()
    assert beside.watch._feeds["a"].state_bytes <= held < 200


def test_a_silent_input_holds_nobody_up():
    beside = Watched(
        'for $a in stream("a")/r/u return <p>{ $a/v, stream("b")/r/u[k = $a/k]/v }</p>',
        {"a": "document", "b": "document"},
    )
    beside.feed("a", b"<r>" + unit(1, "x").encode())
    assert beside.told.items() == ["<p><v>x</v></p>"]
    beside.feed("b", b"<r>" + unit(1, "y").encode())
    assert beside.told.items() == ["<p><v>x</v><v>y</v></p>"]


# -- strict ----------------------------------------------------------------------------------------


def strict(query: str) -> Watched:
    """Two streams whose keys travel by themselves."""
    beside = Watched(query, {"a": "fragments", "b": "fragments"}, policy="strict")
    for name in "ab":
        beside.feed(name, root(1, 2).replace(b'name="k" type', b'name="k" filler="true" type'))
    return beside


def lacking(number: int, value: str) -> bytes:
    """A unit whose key has not come."""
    hole = f'<stream:hole id="{number + 10}" tsid="3"/>'
    return filler(number, 2, f"<u>{hole}<v>{value}</v></u>")


def complete(number: int, key: int, value: str) -> bytes:
    return lacking(number, value) + filler(number + 10, 3, f"<k>{key}</k>")


def test_pairs_of_complete_units_are_told_though_others_are_not_complete():
    beside = strict(PAIRS)
    beside.feed("a", complete(1, 1, "one"))
    assert beside.told.items() == []
    beside.feed("b", lacking(1, "x"))
    assert beside.told.items() == []
    beside.feed("b", complete(2, 1, "two"))
    assert beside.told.items() == ["<p>onetwo</p>"]
    beside.feed("b", filler(11, 3, "<k>1</k>"))
    assert beside.told.items() == ["<p>onex</p>", "<p>onetwo</p>"]
    assert all(change.diff > 0 for change in beside.changes)


def test_a_count_waits_until_the_other_input_is_complete_but_not_for_its_own():
    beside = strict(LOOKED_UP)
    beside.feed("a", complete(1, 1, "one"))
    beside.feed("b", lacking(1, "x"))
    beside.feed("b", complete(2, 1, "two"))
    assert beside.told.items() == []
    beside.feed("b", filler(11, 3, "<k>1</k>"))  # nothing of b is missing; unit 2 of a is
    assert beside.told.items() == ["<p>one2</p>"]
    beside.feed("a", complete(2, 2, "none"))
    assert beside.told.items() == ["<p>one2</p>", "<p>none0</p>"]


def test_the_end_of_the_other_input_decides():
    beside = strict(LOOKED_UP)
    beside.feed("a", complete(1, 1, "one"))
    beside.feed("b", complete(2, 1, "two"))
    assert beside.told.items() == []
    beside.end("b")
    assert beside.told.items() == ["<p>one1</p>"]


def test_a_stream_that_turns_out_not_to_be_cut_is_read_whole_and_so_is_the_other():
    beside = Watched(PAIRS, {"a": "fragments", "b": "document"})
    beside.feed("a", HEAD.encode())
    beside.feed("b", f"<r>{unit(1, 'x')} between {unit(2, 'y')}".encode())
    at_first = beside.joined
    assert at_first
    odd = f'<r><odd/>{unit(2, "in the root")}<stream:hole id="1" tsid="2"/></r>'
    beside.feed("a", filler(0, 1, odd))
    beside.feed("a", filler(1, 2, unit(1, "one")))
    assert not beside.joined
    assert beside.told.items() == beside.afresh() == ["<p>in the rooty</p>", "<p>onex</p>"]
    beside.feed("b", f"{unit(1, 'z')}</r>".encode())
    beside.end("b")
    beside.end("a")
    assert beside.told.items() == beside.afresh()
    assert len(beside.told.items()) == 3
