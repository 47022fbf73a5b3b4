"""Snapshots of queries over update streams: started again, they go on amid regions and lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.edges.test_updates_watched import QUERIES
from tests.edges.update_streams import any_event, events, update_streams
from xstreamcast import query
from xstreamcast.api import compiled
from xstreamcast.edges.snapshot.container import FORMAT, unpacked
from xstreamcast.edges.snapshot.query import restored, taken
from xstreamcast.edges.updates.decoder import UpdateDecoder
from xstreamcast.edges.updates.lines import line
from xstreamcast.edges.updates.markup import OPEN, element
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.operators.snapshot.arrow import NotNow
from xstreamcast.operators.watching.watch import Watch
from xstreamcast.tape.names import Names


class Running:
    """A query over an update stream, which may begin with a snapshot of another."""

    def __init__(self, text: str, wrap: str | None, raw: bytes | None = None) -> None:
        names = Names()
        self.decoder = UpdateDecoder("s", names=names, wrap=wrap)
        self.watch = Watch(compiled(text), {"s": "fragments"}, names=names)
        if raw is not None:
            restored(unpacked(raw), self.watch, {"s": self.decoder})

    def take(self, chunk: bytes | None) -> list[str]:
        """What changes with a chunk, and what is refused of it."""
        found = self.decoder.close() if chunk is None else self.decoder.feed(chunk)
        refused = [repr(one) for one in found if hasattr(one, "reason")]
        self.watch.on_arrivals("s", found, self.decoder.ids)
        return refused + [change.to_json() for change in self.watch.tick()]

    def snapshot(self) -> bytes | None:
        try:
            return taken(self.watch, {"s": self.decoder}, {})
        except NotNow:
            return None


def check(text: str, raw: bytes, size: int, wrap: str | None) -> int:
    """Go on from a snapshot after every chunk → how many there were."""
    whole, count = Running(text, wrap), 0
    others: list[Running] = []
    for chunk in [*(raw[at : at + size] for at in range(0, len(raw), size)), None]:
        expected = whole.take(chunk)
        for other in others:
            assert other.take(chunk) == expected
        made = whole.snapshot()
        if made is not None:
            others = [*others[-2:], Running(text, wrap, made)]
            assert others[-1].snapshot() == made
            assert others[-1].decoder.counts == whole.decoder.counts
            count += 1
    return count


@pytest.mark.parametrize("text", QUERIES)
@given(stream=update_streams(most=8), size=st.integers(20, 400))
@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_emitted_after_a_snapshot_is_what_is_emitted_without(text, stream, size) -> None:
    check(text, b"".join(map(line, stream)), size, "w")


@given(stream=st.lists(any_event, max_size=25), size=st.integers(20, 400))
@settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))
def test_events_that_do_not_fit_are_refused_after_a_snapshot_too(stream, size) -> None:
    check(QUERIES[1], b"".join(map(line, stream)), size, "w")


STREAM = events(
    'sE(0,r) sM(0,1) sE(1,a) cD(1,"x") eE(1,a) eM(0,1) sM(0,2) sE(2,a) cD(2,"u") eE(2,a) eM(0,2)'
    ' sR(1,3) sE(3,a) cD(3,"u") eE(3,a) eR(1,3) hide(2) sA(1,4) sE(4,b) sM(4,5) sE(5,a) cD(5,"v")'
    ' eE(5,a) eM(4,5) eE(4,b) eA(1,4) show(2) sB(2,6) sE(6,a) cD(6,"u") eE(6,a) eB(2,6) freeze(3)'
    ' sR(5,7) sE(7,a) cD(7,"w") eE(7,a) eR(5,7) hide(4) show(4) eE(0,r)'
)
TEXT = 'for $a in stream("s")//a group by $t := string($a) return <g>{$t, count($a)}</g>'


def test_all_kinds_of_updates() -> None:
    raw = b"".join(map(line, STREAM))
    assert check(TEXT, raw, 61, None) > 20


GOLDEN = Path(__file__).parent / "golden_updates"
SIZE, BEFORE = 61, 17


def test_a_snapshot_that_an_earlier_version_wrote_goes_on(request: pytest.FixtureRequest) -> None:
    path, given = GOLDEN / f"updates.{FORMAT}.snapshot", pieces(SIZE)
    if request.config.getoption("--accept"):
        running = Running(TEXT, None)
        for chunk in given[:BEFORE]:
            running.take(chunk)
        made = running.snapshot()
        assert made is not None
        GOLDEN.mkdir(exist_ok=True)
        path.write_bytes(made)
        told = [change for chunk in (*given[BEFORE:], None) for change in running.take(chunk)]
        path.with_suffix(".changes").write_text("\n".join(told) + "\n")
    for one in GOLDEN.glob("*.snapshot"):
        running = Running(TEXT, None, one.read_bytes())
        told = [change for chunk in (*given[BEFORE:], None) for change in running.take(chunk)]
        assert told == one.with_suffix(".changes").read_text().splitlines()


ANSWER = (
    'sS(answer) sM(answer,first) eM(answer,first) sA(first,1) sT(1) sE(1,a) cD(1,"x") eE(1,a) eT(1)'
    ' eA(first,1) sA(1,2) sT(2) cD(2,"5") eT(2) eA(1,2) sR(1,1) sT(1) cD(1,"y") eT(1) eR(1,1)'
    " hide(2) show(2)"
)


def test_an_answer_as_an_input() -> None:
    raw = b"".join(map(line, events(ANSWER)))
    assert check('stream("s")/answer/*', raw, 33, None) > 5


def pieces(size: int, form=line, begin: bytes = b"") -> list[bytes]:
    raw = begin + b"".join(map(form, STREAM))
    return [raw[at : at + size] for at in range(0, len(raw), size)]


def watched(folder: Path, given: list[bytes], turns: tuple[int | None, ...]) -> Iterator[list[str]]:
    """What is in the sink after each start, and what was said."""
    sink: list[str] = []
    for ticks in turns:
        notes: list[str] = []
        options = WatchOptions(checkpoint=str(folder), say=notes.append, snapshot_every=1)
        watching = query(TEXT).watching(None, {"s": iter(given)}, options)
        watching.sink = lambda: len(sink)
        assert watching.journal is not None
        del sink[watching.journal.sink :]
        watching.begin()
        before = watching.ticked
        with closing(watching.ticks()) as batches:
            for changes in batches:
                sink.extend(change.to_json() for change in changes)
                if ticks is not None and watching.ticked >= before + ticks:
                    break
        yield notes
    yield sink


def test_a_checkpoint_goes_on_amid_a_line(tmp_path: Path) -> None:
    given = pieces(77)
    *_, whole = watched(tmp_path / "whole", given, (None,))
    *notes, parts = watched(tmp_path / "parts", given, (4, 6, 3, None))
    assert notes == [[]] * 4
    assert parts == whole
    assert list((tmp_path / "parts" / "snapshots").glob("*.snapshot"))
    told = Accumulated(map(Change.from_json, parts))
    assert sorted(told.items()) == ["<g>u 3</g>", "<g>w 1</g>"]


def test_an_update_stream_that_is_written_as_xml_says_that_it_has_none(tmp_path: Path) -> None:
    given = pieces(77, element, OPEN)
    *_, whole = watched(tmp_path / "whole", given, (None,))
    first, second, parts = watched(tmp_path / "parts", given, (4, None))
    said = "no snapshot is written: s is an update stream that is written as XML; a restart replays"
    assert [note.startswith(said) for note in (*first, *second)] == [True, True]
    assert parts == whole
