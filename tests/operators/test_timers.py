"""Answers that change because time passes: units are asked again when, and only when, they may."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operators.watched import Watched
from tests.streams_strategies import histories, structures
from xstreamcast.algebra.analysis.timing import timing
from xstreamcast.api import compiled
from xstreamcast.errors import Error
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.model.instant import SECOND

BOUNDS = ("[now]", "[now - PT2M,now]", "[now - PT1M30S]", "[2020-01-01T00:04:00,now]",
          "[start,now - PT1M]", "[now - PT3M,2020-01-01T00:06:00]", "[now,now + PT1M]")  # fmt: skip
QUERIES = (
    "for $x in stream('s')//%n where exists($x/%m?%b) return string($x/@k)",
    "for $x in stream('s')//%n where $x/%m?%b = ('x', '7') return $x",
    "for $x in stream('s')/r/* return count($x//%n?%b/%m)",
    "sum(for $x in stream('s')/r/* return count($x?%b))",
    "for $x in stream('s')//%n order by count($x/%m?%b) descending return string($x/@k)",
    "for $x in stream('s')//%n return <x>{ $x/@k, $x/%m#[1]/text(), $x/%m#[last - 1]/text() }</x>",
    "for $x in stream('s')//%n where vtFrom($x/%m#[last]) < now - PT2M return string($x/@k)",
    "for $x in stream('s')//%n where now - vtFrom($x/%m[1]) >= PT1M return string($x/@k)",
    "for $x in stream('s')//%n[vtFrom(.) + PT90S > now] return string($x/@k)",
    "for $x in stream('s')/r/%n group by $k := string($x/@k) order by $k "
    "return <g k='{ $k }'>{ count($x/%m?%b), sum($x/%m?%b ! string-length(.)) }</g>",
    "count(stream('s')//%n/%m?%b[@k != '1'])",
    "for $x in stream('s')//%n?%b return <x>{ $x/@k, $x/%m/text() }</x>",
    "for $x in stream('s')//%n/%m?%b let $y := $x/%n order by string($x) return <x>{ $y }</x>",
    "for $x in stream('s')//%n where $x/@t > now - PT2M return string($x/@k)",
    "stream('s')//%n[xs:dateTime(@t) + PT90S < current-dateTime()]/@k/string()",
    "count(stream('s')//%n[%m/@t ! xs:dateTime(.) = now or vtFrom(.) + PT3M <= now])",
    "for $x in stream('s')//%n let $y := $x?%b return <x>{ $y/@k, vtFrom($x) }</x>",
    "for $x in stream('s')//%n?%b return <x>{ $x, vtFrom($x) }</x>",
    "for $x in stream('s')//%n/%m?%b[exists(.)] order by vtFrom($x) return <x>{ $x/@* }</x>",
)


def _with_times(line: bytes, draw) -> bytes:
    """Elements with an attribute t in some places: an instant near those of the stream."""
    parts = line.split(b"<", maxsplit=2)  # a fragment, and its payload
    if len(parts) < 3 or parts[2].startswith((b"/", b"stream:", b"tag")):
        return line
    found = re.fullmatch(rb"(\w+)(.*)", parts[2], re.DOTALL)
    assert found is not None
    name, rest = found.groups()
    minute = draw(st.integers(0, 14))
    time = b' t="2020-01-01T00:%02d:00%s"' % (minute, draw(st.sampled_from([b"", b"Z"])))
    return b"<".join([*parts[:2], name + time + rest])


@settings(deadline=None)
@given(st.data(), structures(), st.lists(st.integers(0, 900), max_size=8))
def test_time_passing_is_told_as_if_asked_afresh(data, structure, seconds):
    names = st.sampled_from(["a", "b", "c", "d"])
    query = data.draw(st.sampled_from(QUERIES))
    query = query.replace("%n", data.draw(names)).replace("%m", data.draw(names))
    following = Watched(query.replace("%b", data.draw(st.sampled_from(BOUNDS))))
    begin = 18262 * 86_400  # 2020 began so many seconds after 1970
    *lines, _ = data.draw(histories(structure)).splitlines()
    lines = [_with_times(line, data.draw) if b"@t" in query.encode() else line for line in lines]
    try:
        for line in lines:
            following.feed("s", line + b"\n")
            assert following.told.items() == following.afresh()
        for second in sorted(seconds):
            following.watch.reach(Moment((begin + second) * SECOND))
            following.tick()
            assert following.told.items() == following.afresh()
    except Error:
        assert following.afresh() is None


def test_only_what_may_change_is_known_beforehand():
    for query in (
        "count(stream('s')//a?[now - PT1H,now])",
        "stream('s')//a?[now]",
        "count(stream('s')//a[vtFrom(.) > now])",
        "count(stream('s')//a[now - vtFrom(.) > PT5M])",
        "stream('s')//a#[last - 1]",
        "for $a in stream('s')//a?[now - PT1H,now] return <a>{ $a/@k }</a>",
        "stream('s')//a[xs:dateTime(e) > now]",
        "for $a in stream('s')//a let $t := $a/@t where $t < current-dateTime() - PT1H return $a",
    ):
        assert timing([compiled(query).body], content=True) is not None
    for query in (
        "stream('s')//a?[now - PT1H,now]",
        "count(stream('s')//a[vtTo(.) > now])",
        "count(stream('s')//a[vtFrom(.?[now - PT1H,now]) > now])",
        "stream('s')//a[vtFrom(.) > now][now > current-dateTime()]",
        "for $a in stream('s')//a?[now - PT1H,now] return <a>{ $a }</a>",
        "stream('s')//a[xs:dateTime(concat(d, 'T', t)) > now]",
        "for $a in stream('s')//a let $e := <e>{ concat($a/d, 'T', $a/t) }</e> "
        "where $e/. > now return $a",
        "current-date()",
    ):
        assert timing([compiled(query).body], content=True) is None


def test_events_are_not_clipped():
    kept = "for $a in stream('s')//a?[now - PT1H,now] return <a>{ $a, vtFrom($a) }</a>"
    clipped = "for $a in stream('s')//b?[now - PT1H,now]/a return <a>{ $a, vtFrom($a) }</a>"
    events = frozenset({("", "a")})
    assert timing([compiled(kept).body], instants=events) is not None
    assert timing([compiled(clipped).body], instants=events) is None
