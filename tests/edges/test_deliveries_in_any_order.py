"""Feeds that send all there is: what deliveries held, in whatever order they came."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xstreamcast as xsc
from xstreamcast.edges.mapping import decoder
from xstreamcast.edges.mapping.attendance import ABSENT, PartDeliveries
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.form import parse_mapping
from xstreamcast.edges.mapping.messages import Message
from xstreamcast.edges.snapshot.mapped import read_mapped, write_mapped
from xstreamcast.model.change import Accumulated
from xstreamcast.model.fragment import TEMPORARY, FragmentBatch, Op
from xstreamcast.model.instant import NOW
from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
from xstreamcast.tape.fragments.chain_kernels import Arrived, chained

MAPPING = """
[message]
time = "/all/@at"
[unit.u]
path  = "//u"
key   = "@id"
whole = "/all[@whole]/'all'"
{}
"""
TIMED, UNTIMED = MAPPING.format('from = "@from"'), MAPPING.format("")
VERSIONS = (
    'for $u in stream("s")//u return string-join(($u/@id, string($u), '
    '($u/@vtFrom, $u/@vtTo) ! substring(., 15, 2)), " ")'
)


def delivery(minute: int, units: dict[str, int]) -> str:
    """The units, each with the minute of its valid time as its content."""
    body = "".join(
        f'<u id="{name}" from="2024-05-01T08:{begin:02}:00Z">{begin}</u>'
        for name, begin in units.items()
    )
    return f'<all whole="1" at="2024-05-01T08:{minute:02}:00Z">{body}</all>'


def versions(mapping: str, messages: list[str], folder: Path) -> list[str]:
    """All versions, the same once and left running."""
    (folder / "m.toml").write_text(mapping)
    feed = Path(tempfile.mkdtemp(dir=folder))
    for number, one in enumerate(messages):
        (feed / f"{number:02}.xml").write_text(one)
    source, refused = Path(f"{folder / 'm.toml'}:{feed}"), list[object]()
    found = list(xsc.query(VERSIONS).run(s=source, keep=refused.append).lines())
    assert refused == []
    accumulated = Accumulated()
    for change in xsc.query(VERSIONS).watch(s=source):
        accumulated.apply(change)
    assert accumulated.items() == found
    return sorted(found)


CASES = {
    "gone, and later still gone": (
        [(1, {"a": 0, "b": 0}), (2, {"a": 0}), (3, {"a": 0})],
        ["a 0 00 ", "b 0 00 02"],
    ),
    "gone for a while": (
        [(1, {"a": 0}), (2, {}), (3, {"a": 0}), (4, {"a": 0})],
        ["a 0 00 02", "a 0 03 "],
    ),
    "back with another content": (
        [(1, {"a": 0}), (2, {}), (4, {"a": 3})],
        ["a 0 00 02", "a 3 03 "],
    ),
    "gone twice": (
        [(1, {"a": 0}), (2, {}), (3, {"a": 0}), (4, {}), (5, {"a": 0})],
        ["a 0 00 02", "a 0 03 04", "a 0 05 "],
    ),
    "there once": ([(1, {}), (2, {"a": 0}), (3, {}), (4, {})], ["a 0 00 03"]),
    "corrected meanwhile": (
        [(1, {"a": 0, "b": 0}), (2, {"a": 2}), (3, {"a": 2, "b": 0}), (5, {"a": 4, "b": 0})],
        ["a 0 00 02", "a 2 02 04", "a 4 04 ", "b 0 00 02", "b 0 03 "],
    ),
    "withdrawn before it began": ([(1, {"a": 4}), (2, {}), (5, {"b": 3})], ["b 3 03 "]),
    "postponed": ([(1, {"a": 3}), (2, {"a": 5}), (6, {"a": 5})], ["a 5 05 "]),
    "brought forward": ([(1, {"a": 5}), (2, {"a": 3}), (6, {"a": 3})], ["a 3 03 "]),
    "postponed while it is there": (
        [(1, {"a": 0}), (2, {"a": 4}), (3, {"a": 6}), (5, {"a": 6}), (7, {"a": 6})],
        ["a 0 00 06", "a 6 06 "],
    ),
    "withdrawn, and announced again": (
        [(1, {"a": 4}), (2, {}), (3, {"a": 4}), (5, {"a": 4})],
        ["a 4 04 "],
    ),
}  # fmt: skip


@pytest.mark.parametrize("most", [1, 1000])
@pytest.mark.parametrize("name", CASES)
def test_deliveries_count_in_the_order_of_their_times(
    name: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoder, "MOST", most)
    said, expected = CASES[name]
    messages = [delivery(minute, units) for minute, units in said]
    for order in itertools.permutations(messages):
        assert versions(TIMED, list(order), tmp_path) == expected


@st.composite
def deliveries(draw: st.DrawFn) -> list[tuple[int, int | None]]:
    """When deliveries were, and since when the unit is valid that they hold; None: it is absent."""
    out: list[tuple[int, int | None]] = []
    now, begins = 0, 0
    for _ in range(draw(st.integers(2, 7))):
        last, now = now, now + draw(st.integers(1, 3))
        if draw(st.integers(0, 2)) == 0:
            begins = draw(st.integers(last + 1, now))
        out.append((now, begins if draw(st.booleans()) else None))
    return out


def history(said: list[tuple[int, int | None]]) -> list[tuple[int, int, int]]:
    """(content, from, to) of each version, when deliveries came in this order."""
    known, rows = PartDeliveries(), list[tuple[int, int, int, int]]()
    for when, begins in said:
        known.enter(when)
        removals = known.absent(1, when) if begins is None else known.present(1, when, begins)
        rows += [] if begins is None else [(begins, 0, NOW, begins)]
        rows += [(one.valid, TEMPORARY * (one.to != NOW), one.to, -1) for one in removals]
    valid, flags, to, content = np.array(rows, np.int64).reshape(-1, 4).T
    none = np.zeros(len(rows), np.int64)
    arrived = Arrived(none.astype(np.int32), valid, flags.astype(np.uint8), to, none)
    chain = chained(arrived, 1, 1000, 1000)
    versions = zip(content[chain.place], chain.begin, chain.end, strict=True)
    return [(int(c), int(a), int(b)) for c, a, b in versions if c >= 0 and a < b]


@given(st.data())
def test_any_order_gives_the_versions_of_the_order_in_time(data: st.DataObject) -> None:
    said = data.draw(deliveries())
    found = history(data.draw(st.permutations(said)))
    assert found == history(said)
    for (when, begins), after in itertools.zip_longest(said, said[1:]):
        there = [c for c, a, b in found if a <= when < b]
        assert (begins in there) if begins is not None else (not there or after is not None)
    last = said[-1][1]
    assert [c for c, _, b in found if b == 1000] == ([] if last is None else [last])


@pytest.mark.parametrize("most", [1, 1000])
def test_units_that_do_not_say_when_they_begin(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoder, "MOST", most)
    said = [(1, {"a": 0, "b": 0}), (2, {"b": 0}), (3, {"a": 0, "b": 0}), (4, {"a": 0, "b": 0})]
    messages = [delivery(minute, units) for minute, units in said]
    for order in itertools.permutations(messages):
        assert versions(UNTIMED, list(order), tmp_path) == ["a 0 01 02", "a 0 03 ", "b 0 01 "]


def test_what_deliveries_held_is_part_of_a_checkpoint() -> None:
    messages = [delivery(*one) for one in [(1, {"a": 0, "b": 0}), (4, {"a": 0}), (2, {"b": 0})]]
    first = MappingDecoder("s", parse_mapping(TIMED, "m"))
    for one in messages[:2]:
        first.messages([Message(one.encode())])
    tables = TableWriter()
    write_mapped(tables, "d", first)
    second = MappingDecoder("s", first.mapping, names=first.names)
    read_mapped(TableReader(tables.finish(), tables.facts, first.names), "d", second)
    both = [one.messages([Message(messages[2].encode())]) for one in (first, second)]
    said = [
        [
            (batch.id.tolist(), batch.valid.tolist(), batch.op.tolist())
            for batch in found
            if isinstance(batch, FragmentBatch)
        ]
        for found in both
    ]
    assert said[0] == said[1]
    assert any(Op.REMOVE in op for _, _, op in said[0])


def test_what_no_timely_delivery_needs_is_dropped() -> None:
    known = PartDeliveries()
    for when in range(1000):
        known.enter(when)
        if when % 2:
            known.absent(1, when)
        else:
            known.present(1, when, 0)
        known.forget(when - 10)
    assert len(known.times) < 15
    assert len(known.steps[1]) < 15
    assert known.steps[1][-1].valid == ABSENT


@st.composite
def announcements(draw: st.DrawFn) -> list[tuple[int, int | None]]:
    """When deliveries were, and the begin of the unit in each, which may be planned."""
    times = sorted(draw(st.sets(st.integers(1, 12), min_size=2, max_size=6)))
    return [(when, draw(st.none() | st.integers(when - 1, when + 4))) for when in times]


@given(st.data())
def test_a_plan_that_the_next_delivery_drops_never_holds(data: st.DataObject) -> None:
    said = data.draw(announcements())
    order, half = data.draw(st.permutations(said)), data.draw(st.integers(0, len(said)))
    found = stated(order, half)
    assert found == stated(said, len(said))
    for (when, begins), (after, _) in itertools.pairwise([*said, (20, None)]):
        shown = {c for c, a, b in found for at in range(when, after) if a <= at < b}
        kept = {one for _, one in said}
        void = {
            b for b in kept if b is not None
            and all(next((w for w, _ in said if w > x), 20) <= b for x, y in said if y == b)
        }  # fmt: skip
        assert not shown & void
        assert shown or begins is None or begins >= after


def stated(said: list[tuple[int, int | None]], half: int) -> list[tuple[int, int, int]]:
    """(content, from, to) of each version, with a restart after some deliveries."""
    decoder, made = MappingDecoder("s", parse_mapping(TIMED, "m")), list[FragmentBatch]()
    for number, (when, begins) in enumerate(said):
        if number == half:
            tables = TableWriter()
            write_mapped(tables, "d", decoder)
            decoder = MappingDecoder("s", decoder.mapping, names=decoder.names)
            read_mapped(TableReader(tables.finish(), tables.facts, decoder.names), "d", decoder)
        text = delivery(when, {} if begins is None else {"a": begins})
        arrived = decoder.messages([Message(text.encode())])
        made += [
            one for one in arrived if isinstance(one, FragmentBatch) and one.within is not None
        ]
    if not made:
        return []
    valid, flags, op = (
        np.concatenate([getattr(b, w) for b in made]) for w in ("valid", "flags", "op")
    )
    to = np.concatenate([np.full(len(b), NOW) if b.to is None else b.to for b in made])
    version = [np.zeros(len(b), np.int64) if b.version is None else b.version for b in made]
    ids = np.zeros(len(valid), np.int32)
    end = at_minute(20)
    chain = chained(Arrived(ids, valid, flags, to, np.concatenate(version)), 1, end, end)
    rows = zip(chain.place.tolist(), chain.begin.tolist(), chain.end.tolist(), strict=True)
    found = [
        (int(valid[place]), begin, end)
        for place, begin, end in rows
        if op[place] != Op.REMOVE and begin < end
    ]
    return [tuple((one - at_minute(0)) // 60_000_000 for one in row) for row in found]  # type: ignore[misc]


def at_minute(minute: int) -> int:
    return (1_714_550_400 + 60 * minute) * 1_000_000
