"""Answers about time against a list of versions that is kept by hand.

Nothing of the translation to XQuery is used: the expected items follow from docs/time.md alone.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

import xstreamcast as xsc
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.model.change import Accumulated

STRUCTURE = """<structure><tag id="1" name="r" type="snapshot">
<tag id="2" name="u" type="temporal"><tag id="4" name="c" type="temporal"/></tag>
<tag id="3" name="e" type="event"/></tag></structure>
<filler id="0" tsid="1" validTime="2026-05-01T08:00:00"><r/></filler>
"""
LATEST = 20


def at(minute: int) -> str:
    return f"2026-05-01T08:{minute:02}:00"


class Said(NamedTuple):
    """A message: a unit has a content from a minute on, until another; or it is gone (None)."""

    unit: str
    begins: int
    content: str | None
    ends: int | None = None
    said: int | None = None  # when it was written
    event: bool = False

    @property
    def text(self) -> str:
        times = f'validTime="{at(self.begins)}"'
        times += f' validTo="{at(self.ends)}"' if self.ends is not None else ""
        times += f' messageTime="{at(self.said)}"' if self.said is not None else ""
        if self.content is None:
            return f'<remove id="{self.unit}" tsid="2" in="0" {times}/>\n'
        tag, name = (3, "e") if self.event else (2, "u")
        inside = f'<{name} k="{self.unit}">{self.content}</{name}>'
        return f'<filler id="{self.unit}" tsid="{tag}" in="0" {times}>{inside}</filler>\n'


class Version(NamedTuple):
    """A content of a unit; `ends` is None where nobody said when."""

    unit: str
    begins: int
    ends: int | None
    content: str


class Stream(NamedTuple):
    """What was said, and the minute that the clock shows."""

    messages: list[Said]
    beat: int | None

    @property
    def now(self) -> int:
        times = [one.begins if one.said is None else one.said for one in self.messages]
        return max([0, *times, *([] if self.beat is None else [self.beat])])

    def versions(self, until: int) -> list[Version]:
        """By unit, then by time; those that begin up to an instant."""
        out = []
        states = [one for one in self.messages if not one.event]
        for unit in sorted({one.unit for one in states}):
            own = sorted(one for one in states if one.unit == unit and one.begins <= until)
            for one, after in zip_longest(own, own[1:]):
                ends = [e for e in (one.ends, after and after.begins) if e is not None]
                if one.content is not None and (not ends or min(ends) > one.begins):
                    out.append(Version(unit, one.begins, min(ends, default=None), one.content))
        return out

    def shown(self, begin: int, end: int, name: str = "u") -> list[Version]:
        """What `?[begin, end]` shows, clipped."""
        out = []
        if begin > end:
            return []
        if name == "e":
            events = {(v.begins, v.unit, str(v.content)) for v in self.messages if v.event}
            return [Version(u, t, t, c) for t, u, c in sorted(events) if begin <= t <= end]
        for one in self.versions(LATEST * 9):
            if one.begins > end:
                continue
            last = one.ends
            if last is None:
                last = end + 1 if one.begins > self.now else self.now + 1
            if last > begin:
                clipped = min(last - (one.ends is None), end)
                out.append(one._replace(begins=max(one.begins, begin), ends=clipped))
        return out


def plain(stream: Stream, name: str = "u") -> list[Version]:
    """Without a projection: what has begun; what has not ended lives until now."""
    if name == "e":
        return stream.shown(0, stream.now, "e")
    now = stream.now
    return [
        one._replace(ends=now if one.ends is None or one.ends > now else one.ends)
        for one in stream.versions(now)
    ]


def current(stream: Stream, name: str = "u") -> list[Version]:
    """`?[now]`: what lives now, with the begin that it has."""
    now = stream.now
    if name == "e":
        return stream.shown(now, now, "e")
    return [
        one._replace(ends=now) for one in stream.versions(now) if one.ends is None or one.ends > now
    ]


def lines(found: list[Version]) -> list[str]:
    return [f"{v.unit}{v.content} {at(v.begins)} {at(v.ends or 0)}" for v in found]


SHOW = 'return concat($x/@k, $x, " ", $x/@vtFrom, " ", $x/@vtTo)'
VALUES = 'return concat($x/@k, $x, " ", vtFrom($x), " ", vtTo($x))'


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    """Different messages about one unit begin at different minutes: so any order will do."""
    out = []
    for unit in draw(st.sampled_from(["3", "34", "345"])):
        minutes = draw(st.lists(st.integers(0, LATEST), min_size=1, max_size=5, unique=True))
        for begins in minutes:
            content = draw(st.sampled_from(["a", "b", "c", None]))
            ends = said = None
            if content is not None and draw(st.booleans()):
                ends = draw(st.integers(begins, LATEST + 5))
            if draw(st.booleans()):
                said = draw(st.integers(0, LATEST))
            out.append(Said(unit, begins, content, ends, said))
    for unit in draw(st.sampled_from(["", "7", "78"])):
        begins, said = draw(st.integers(0, LATEST)), draw(st.none() | st.integers(0, LATEST))
        out.append(Said(unit, begins, draw(st.sampled_from("xy")), None, said, True))
    return Stream(out, draw(st.none() | st.integers(0, LATEST)))


@st.composite
def questions(draw: st.DrawFn, stream: Stream) -> tuple[str, list[str]]:
    """A query, and its items."""
    name = draw(st.sampled_from("uuue"))
    path, now = f'stream("s")//{name}', stream.now
    low, high = sorted(draw(st.tuples(*[st.integers(0, LATEST + 5)] * 2)))
    c, d = sorted(draw(st.tuples(*[st.integers(0, LATEST + 5)] * 2)))
    kind = draw(st.integers(0, 13))
    show = VALUES if draw(st.booleans()) else SHOW
    match kind:
        case 0:
            found, asked = plain(stream, name), path
        case 1:
            found, asked = current(stream, name), f"{path}?[now]"
        case 2:
            found, asked = stream.shown(low, low, name), f"{path}?[{at(low)}]"
        case 3:
            found, asked = stream.shown(low, high, name), f"{path}?[{at(low)}, {at(high)}]"
        case 4:
            found = stream.shown(max(low, c), min(high, d), name)
            asked = f"{path}?[{at(low)}, {at(high)}]?[{at(c)}, {at(d)}]"
        case 5:
            found = stream.shown(c, c, name) if low <= c <= high else []
            asked = f"{path}?[{at(low)}, {at(high)}]?[{at(c)}]"
        case 6:
            n = draw(st.integers(1, 6))
            found, asked = plain(stream, name)[n - 1 : n], f"{path}#[{n}]"
        case 7:
            found, asked = plain(stream, name)[-1:], f"{path}#[last]"
        case 8:
            n, m = draw(st.integers(1, 4)), draw(st.integers(0, 3))
            found, asked = plain(stream, name)[n - 1 : n + m], f"{path}#[{n}, {n + m}]"
        case 9:
            unit = draw(st.sampled_from("345"))
            found = [v for v in plain(stream) if v.unit == unit][-2:-1]
            asked = f'stream("s")//u[@k = "{unit}"]#[last - 1]'
        case 10:
            found = stream.shown(now - low if low <= now else 0, now, name)
            asked = f"{path}?[now - PT{low}M, now]"
        case 11:
            found, asked = stream.shown(now, now + low, name), f"{path}?[now, now + PT{low}M]"
            if low == 0:
                found = stream.shown(now, now, name)
        case 12:
            found, asked = stream.shown(0, high, name), f"{path}?[start, {at(high)}]"
        case _:
            found = [v for v in plain(stream, name) if v.ends is not None and v.ends < high]
            asked = f"for $y in {path} where vtTo($y) < {at(high)} return $y"
    return f"for $x in ({asked}) {show}", lines(found)


@given(st.data())
def test_answers_are_those_of_a_list_of_versions(data: st.DataObject) -> None:
    stream = data.draw(streams())
    asked, expected = data.draw(questions(stream))
    order = data.draw(st.permutations(stream.messages))
    again = data.draw(st.lists(st.sampled_from(order), max_size=2))
    texts = [one.text for one in (*order, *again)]
    if stream.beat is not None:
        beat = f'<heartbeat validTime="{at(stream.beat)}"/>\n'
        texts.insert(data.draw(st.integers(0, len(texts))), beat)
    compare(asked, texts, expected, stream.now)


def compare(asked: str, texts: list[str], expected: list[str], now: int) -> None:
    """The items of `run`, and of `watch` that takes the fragments in one by one."""
    parts = [STRUCTURE.encode(), *(one.encode() for one in texts)]
    answered = list(xsc.query(asked).run(s=b"".join(parts)).lines())
    assert [one.replace("now", at(now)) for one in answered] == expected
    answer = Accumulated()
    running = xsc.query(asked).watching(None, {"s": iter(parts)}, WatchOptions(batch=1))
    for changes in running.ticks():
        for change in changes:
            answer.apply(change)
    assert answer.items() == answered


class Span(NamedTuple):
    """From a minute to another, which is part of it or not."""

    begin: int
    end: int
    closed: bool

    def common(self, *others: Span) -> Span | None:
        """What all of them have in common."""
        all_ = (self, *others)
        end, closed = min((one.end, one.closed) for one in all_)
        made = Span(max(one.begin for one in all_), end, closed)
        return made if made.begin < end or (made.begin == end and closed) else None


def spans(said: list[Said], now: int) -> list[tuple[str, Span]]:
    """The versions that a clock has come to, with their contents."""
    out = []
    for one in Stream(said, now).versions(now):
        ended = one.ends is not None and one.ends <= now
        out.append(
            (one.content, Span(one.begins, one.ends if ended and one.ends else now, not ended))
        )
    return out


@st.composite
def changes_of(draw: st.DrawFn, unit: str) -> list[Said]:
    out = []
    for begins in draw(st.lists(st.integers(0, LATEST), min_size=1, max_size=4, unique=True)):
        content = draw(st.sampled_from(["a", "b", "c", None]))
        ends = None if content is None else draw(st.none() | st.integers(begins, LATEST + 5))
        out.append(Said(unit, begins, content, ends))
    return out


@given(st.data())
def test_parts_with_versions_stand_in_the_versions_of_what_they_are_part_of(
    data: st.DataObject,
) -> None:
    units, parts = data.draw(changes_of("3")), data.draw(changes_of("5"))
    now = max(one.begins for one in (*units, *parts))
    low, high = sorted(data.draw(st.tuples(*[st.integers(0, now)] * 2)))
    asked, clip = data.draw(
        st.sampled_from(
            [
                ('stream("s")//u/c', Span(0, now, True)),
                ('stream("s")//c', Span(0, now, True)),
                (f'stream("s")//c?[{at(low)}, {at(high)}]', Span(low, high, True)),
                (f'stream("s")//u?[{at(low)}, {at(high)}]/c', Span(low, high, True)),
                (f'stream("s")//u?[{at(low)}]/c', Span(low, low, True)),
                (f'stream("s")//u/c?[{at(high)}]', Span(high, high, True)),
            ]
        )
    )
    found = [
        (f"{content}{part}", one.common(other, clip))
        for content, one in spans(units, now)
        for part, other in spans(parts, now)
    ]
    expected = [f"{c[1]} {at(one.begin)} {at(one.end)}" for c, one in found if one is not None]
    texts = [one.text for one in units]
    texts += [one.text.replace('tsid="2" in="0"', 'tsid="4" in="3"') for one in parts]
    texts = [
        one.replace('<u k="5">', "<c>").replace("</u>", "</c>") if 'tsid="4"' in one else one
        for one in texts
    ]
    show = 'return concat($x, " ", $x/@vtFrom, " ", $x/@vtTo)'
    compare(f"for $x in {asked} {show}", data.draw(st.permutations(texts)), expected, now)
