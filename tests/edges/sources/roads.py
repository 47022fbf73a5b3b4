"""A feed in messages: incidents on roads, each corrected a few times."""

from __future__ import annotations

from xstreamcast import query
from xstreamcast.edges.watching import Watching, WatchOptions
from xstreamcast.model.change import Accumulated, Change

FIRST = """<structure><tag id="1" name="roads"><tag id="2" name="incident" type="temporal">
<tag id="3" name="severity"/></tag></tag></structure>
<filler id="0" tsid="1" validTime="2026-11-15T08:00:00"><roads>"""
FIRST += "".join(f'<hole id="{i}" tsid="2"/>' for i in range(1, 20)) + "</roads></filler>\n"
REST = [
    f'<filler id="{i * 7 % 19 + 1}" tsid="2" validTime="2026-11-15T09:{i:02}:00">'
    f'<incident n="{i * 7 % 19}"><severity>{i * 3 % 10}</severity></incident></filler>\n'
    for i in range(50)
]
MESSAGES = [one.encode() for one in (FIRST, *REST)]
WHOLE = b"".join(MESSAGES)
QUERY = """for $i in stream("roads")//incident?[now] where $i/severity >= 5
    order by $i/@n return <hot n="{$i/@n}">{$i/severity/text()}</hot>"""


def expected(messages: list[bytes] = MESSAGES) -> list[str]:
    return list(query(QUERY).run(roads=b"".join(messages)).lines())


def watching(source: str, **options: object) -> Watching:
    from xstreamcast.edges.watching.bound import Input

    made = WatchOptions(**options)  # type: ignore[arg-type]
    return query(QUERY).watching(None, {"roads": Input(source)}, made)


def answered(lines: list[str]) -> list[str]:
    return Accumulated(map(Change.from_json, lines)).items()


def settle(source: str, wanted: list[str] | None, **options: object) -> list[str]:
    """Watch until the answer is the wanted one, or to the end of the source; 60 s at most."""
    answer = Accumulated(())
    running = watching(source, **{"seconds": 60.0, **options})
    for changes in running.ticks():
        for change in changes:
            answer.apply(change)
        if answer.items() == wanted:
            break
    return answer.items()
