"""What was removed is forgotten where no projection reaches it; so are removals, once nothing can
come any more that they would hide.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import xstreamcast as xsc
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.edges.watching.run import Watching
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
from xstreamcast.operators.watching.watch import Watch

HEAD = """<structure><tag id="1" name="roads"><tag id="2" name="incident" type="temporal">
<tag id="3" name="severity"/></tag></tag></structure>
<filler id="0" tsid="1" validTime="2026-11-15T00:00:00"><roads/></filler>
"""
QUERIES = {
    "now": 'for $i in stream("s")//incident?[now] where $i/severity > 4 return string($i/@n)',
    "recent": 'for $i in stream("s")//incident?[now - PT2M, now] return string($i/severity)',
    "groups": """for $i in stream("s")//incident?[now] group by $k := string($i/severity)
        order by $k return concat($k, ": ", count($i))""",
}
LATE = 120  # seconds


def when(second: int) -> str:
    return f"2026-11-15T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def incidents(count: int, seed: int) -> list[str]:
    """Reports, removals and reports after removals; some come late, none by more than LATE."""
    chance, out = random.Random(seed), [HEAD]
    for number in range(count):
        second = max(0, number * 3 - (chance.randrange(LATE) if chance.random() < 0.2 else 0))
        incident = chance.randrange(max(1, number // 4), number // 4 + 8)
        said = f'id="{incident + 1}" validTime="{when(second)}"'
        if chance.random() < 0.3:
            out.append(f"<remove {said}/>\n")
        else:
            content = f'<incident n="{incident}"><severity>{chance.randrange(10)}</severity>'
            out.append(f'<filler {said} tsid="2" in="0">{content}</incident></filler>\n')
        if number % 4 == 0 and number > 200:  # each is closed in the end
            old = number // 4 - 50
            out.append(f'<remove id="{old + 1}" validTime="{when(number * 3)}"/>\n')
    return out


def watched(text: str, feed: Path, **options: object) -> tuple[Accumulated, ForgettingFeed]:
    given = WatchOptions(batch=7, **options)  # type: ignore[arg-type]
    watching: Watching = xsc.query(text).watching(None, {"s": feed}, given)
    watching.begin()
    told = Accumulated()
    for changes in watching.ticks():
        for change in changes:
            told.apply(change)
    assert isinstance(watching.watch, Watch)
    known = watching.watch._feeds["s"]
    assert isinstance(known, ForgettingFeed)
    return told, known


@pytest.mark.parametrize("text", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("late", [None, LATE])
@pytest.mark.parametrize("seed", range(2))
def test_the_answer_is_that_of_all_that_came(
    text: str, late: int | None, seed: int, tmp_path: Path
) -> None:
    feed = tmp_path / "feed.xml"
    feed.write_text("".join(incidents(1200, seed)))
    told, known = watched(text, feed, lateness=None if late is None else late * 10**6)
    assert told.items() == list(xsc.query(text).run(s=feed).lines())
    f = known.history.fragments
    removals = int((f["payload"][:] < 0).sum())
    assert len(f) - removals < 300, "contents that were removed are kept"
    assert removals < 120 if late is not None else removals > 220
