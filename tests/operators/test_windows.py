"""The law for windows: after each tick the answer is that over the items that have come."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operators.test_law_divided import ended
from tests.operators.watched import Watched
from tests.operators.window_queries import item_lists, items, window_queries
from tests.streams_strategies import HEAD
from xstreamcast.api import compiled, query
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.operators.growing_windows.windows import Windows
from xstreamcast.operators.relational.windows.growing import GrowingWindowOperator
from xstreamcast.operators.watching.watch import Watch


class Told:
    """A query over a document s that comes in pieces, and what it has told."""

    def __init__(self, asked: str, **options) -> None:
        self.watch = Watch(compiled(asked), {"s": "document"}, **options)
        self.answer = Accumulated()
        self.changes: list[Change] = []

    def feed(self, chunk: bytes) -> None:
        self.watch.on_bytes("s", chunk)
        self.tick()

    def end(self) -> None:
        self.watch.on_bytes("s", b"</r>")
        self.watch.on_end("s")
        self.tick()

    def tick(self) -> None:
        for change in self.watch.tick():
            self.changes.append(change)
            self.answer.apply(change)

    @property
    def operator(self) -> GrowingWindowOperator:
        assert self.watch.pipeline is not None
        operators = self.watch.pipeline._operators
        assert operators is not None
        (found,) = (one for one in operators.all if isinstance(one, GrowingWindowOperator))
        return found

    @property
    def windows(self) -> Windows[list[str]]:
        assert isinstance(self.operator.windows, Windows)
        return self.operator.windows


def outcome(asked: str, listed: list[str]) -> list[str] | str:
    """The answer over a document of these items, or the code of the error."""
    document = f"<r>{''.join(listed)}</r>".encode()
    try:
        return list(query(asked).run(s=document).lines())
    except Error as failed:
        return failed.code


@settings(deadline=None)
@given(st.data(), window_queries('stream("s")'), item_lists())
def test_each_tick_answers_for_the_items_that_have_come(data, asked, listed):
    told, at = Told(asked), 0
    told.feed(b"<r>")
    while at < len(listed):
        count = data.draw(st.integers(1, 4))
        failed = ended(lambda: told.feed("".join(listed[at : at + count]).encode()))  # noqa: B023
        at += count
        if failed is not None:
            assert outcome(asked, listed[:at]) == failed
            return
        expected = outcome(asked, listed[:at])
        if not isinstance(expected, str):
            assert told.answer.items() == expected, asked
    failed = ended(told.end)
    assert (failed or told.answer.items()) == outcome(asked, listed)


@settings(deadline=None)
@given(st.data(), window_queries('stream("s")'), item_lists())
def test_strict_tells_what_stays_and_all_of_it_in_the_end(data, asked, listed):
    expected = outcome(asked, listed)
    if isinstance(expected, str):
        return
    told, at = Told(asked, policy="strict"), 0
    told.feed(b"<r>")
    while at < len(listed):
        count = data.draw(st.integers(1, 4))
        told.feed("".join(listed[at : at + count]).encode())
        at += count
    assert all(change.diff == 1 for change in told.changes)
    waiting = iter(expected)
    assert all(item in waiting for item in told.answer.items()), "in the order of the end"
    told.end()
    assert told.answer.items() == expected
    assert all(change.diff == 1 for change in told.changes)


@settings(deadline=None)
@given(st.data(), window_queries('stream("s")'), st.sampled_from(["event", "temporal"]))
def test_windows_over_items_that_are_corrected_are_revised(data, asked, kind):
    structure = (
        '<stream:structure><tag id="0" name="r" type="snapshot">'
        f'<tag id="1" name="e" type="{kind}"/></tag></stream:structure>'
    )
    following = Watched(asked)
    following.feed("s", f"{HEAD}{structure}".encode())
    holes = data.draw(st.permutations([1, 2, 3, 4, 5]))[: data.draw(st.integers(1, 5))]
    _root(following, holes)
    for number in range(data.draw(st.integers(1, 8))):
        match data.draw(st.integers(0, 9)):
            case 0:
                holes = data.draw(st.permutations(holes))
                _root(following, holes)
            case 1:
                holes = data.draw(st.permutations([1, 2, 3, 4, 5, 6]))[:4]
                _root(following, holes)
            case _:
                pass
        time = data.draw(st.integers(1, 9))
        item = data.draw(items(number))
        which = data.draw(st.sampled_from(holes))
        following.feed(
            "s",
            f'<stream:filler id="{which}" tsid="1" validTime="2024-01-0{time}T00:00:00Z">'
            f"{item}</stream:filler>".encode(),
        )
        expected = following.afresh()
        if expected is not None:
            assert following.told.items() == expected, asked
        if data.draw(st.integers(0, 4)) == 0:
            following.restart()
    expected = following.afresh()
    assert isinstance(ended(following.end), str) == (expected is None)
    assert expected is None or following.told.items() == expected


@settings(deadline=None)
@given(st.data(), window_queries('stream("s")'))
def test_windows_far_from_a_change_stay(data, asked):
    structure = (
        '<stream:structure><tag id="0" name="r" type="snapshot">'
        '<tag id="1" name="e" type="event"/></tag></stream:structure>'
    )
    following = Watched(asked)
    following.feed("s", f"{HEAD}{structure}".encode())
    holes = list(range(1, 40))
    _root(following, holes)
    known = [data.draw(items(n)) for n in range(4)]
    opening = (_filler(which, 1, known[which * which % 4]) for which in holes[:-3])
    following.feed("s", "".join(opening).encode())
    for number in range(data.draw(st.integers(1, 5))):
        which = data.draw(st.sampled_from(holes))
        match data.draw(st.integers(0, 4)):
            case 0:  # an item goes, or comes back
                holes = sorted({*holes} ^ {which}) or [1]
                _root(following, holes)
            case _:
                following.feed("s", _filler(which, 2 + number, data.draw(items(number))).encode())
        expected = following.afresh()
        if expected is not None:
            assert following.told.items() == expected, asked
        if data.draw(st.integers(0, 4)) == 0:
            following.restart()


def _filler(which: int, day: int, item: str) -> str:
    return (
        f'<stream:filler id="{which}" tsid="1" validTime="2024-01-0{day}T00:00:00Z">'
        f"{item}</stream:filler>"
    )


def _root(following: Watched, holes: list[int]) -> None:
    inner = "".join(f'<stream:hole id="{i}" tsid="1"/>' for i in holes)
    following.feed("s", f'<stream:filler id="0" tsid="0"><r>{inner}</r></stream:filler>'.encode())


def test_all_subsequences_come_as_their_last_item_comes():
    told = Told('forseq $w in stream("s")/r/e return string-join($w/@t)')
    told.feed(b"<r><e t='1'/><e t='2'/>")
    assert told.answer.items() == ["1", "12", "2"]
    told.feed(b"<e t='3'/>")
    told.end()
    assert told.answer.items() == ["1", "12", "2", "123", "13", "23", "3"]
    assert all(change.diff == 1 for change in told.changes)


def test_a_window_is_told_while_it_is_open_and_revised():
    told = Told(
        'for tumbling window $w in stream("s")/r/e start at $i when true() '
        "end at $j when $j - $i eq 2 return sum($w/@n)"
    )
    told.feed(b"<r><e n='1'/>")
    told.feed(b"<e n='2'/>")
    told.feed(b"<e n='3'/><e n='4'/>")
    seen = [(change.diff, change.key, change.item) for change in told.changes]
    assert seen == [
        (1, "0.0", "1"), (-1, "0.0", "1"), (1, "0.0", "3"),
        (-1, "0.0", "3"), (1, "0.0", "6"), (1, "3.0", "4"),
    ]  # fmt: skip


@pytest.mark.parametrize("policy", ["optimistic", "strict"])
def test_results_come_in_the_order_of_the_clause(policy):
    document = b"<r><e k='a'/><e k='b'/><e k='b' z=''/><e k='a' z=''/>"
    conditions = "start {0} $s when not($s/@z) {1} end {0} $e when $e/@z and $e/@k eq $s/@k"
    first = f"for sliding window $w in stream('s')/r/e {conditions.format('', 'only')}"
    last = f"forseq $w in stream('s')/r/e sliding window {conditions.format('curItem', 'force')}"
    for clause, expected in ((first, ["a", "b"]), (last, ["b", "a"])):
        told = Told(f"{clause} return string($s/@k)", policy=policy)
        for at in range(0, len(document), 5):
            told.feed(document[at : at + 5])
        told.end()
        assert told.answer.items() == expected
        assert [change.item for change in told.changes] == ["b", "a"], "as soon as it is known"


def test_an_error_that_a_further_item_may_mend_waits_for_the_end():
    asked = (
        'for tumbling window $w in stream("s")/r/e start when true() end next $n when '
        "xs:integer(exactly-one($n/@n)) > 0 return string($w/@n)"
    )
    told = Told(asked)
    told.feed(b"<r><e n='1'/>")
    told.feed(b"<e n='2'/>")
    assert told.answer.items() == ["1"]
    with pytest.raises(Error):
        told.end()


def test_a_landmark_window_ends_before_a_start_that_is_far_from_what_changed():
    following = Watched(
        'forseq $w in stream("s")//e landmark window start curItem $s when $s/@n > 1 '
        "end when newstart return string-join($w/@x)"
    )
    structure = (
        '<stream:structure><tag id="0" name="r" type="snapshot">'
        '<tag id="1" name="e" type="temporal"/></tag></stream:structure>'
    )
    following.feed("s", f"{HEAD}{structure}".encode())
    _root(following, [1, 2, 3])
    for which, item in ((3, '<e n="3" x="c"/>'), (2, '<e n="1" x="b"/>'), (1, '<e n="3" x="a"/>')):
        following.feed(
            "s",
            f'<stream:filler id="{which}" tsid="1" validTime="2024-01-01T00:00:00Z">'
            f"{item}</stream:filler>".encode(),
        )
        assert following.told.items() == following.afresh()
    assert following.told.items() == ["ab", "abc", "c"]
