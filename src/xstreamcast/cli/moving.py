"""The demo's moving answer: a question left running over messages that correct each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from xstreamcast import query
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.model.instant import show_instant

QUESTION: Final = """for $i in stream("roads")//incident?[now]
where $i/severity >= 4
return <avoid road="{$i/road}">{$i/cause/text()}</avoid>"""

_HEAD: Final = """<structure><tag id="1" name="roads"><tag id="2" name="incident" type="temporal">
<tag id="3" name="road"/><tag id="4" name="severity"/><tag id="5" name="cause"/></tag></tag>
</structure>
<filler id="0" tsid="1" validTime="2026-11-15T08:00:00"><roads><hole id="17" tsid="2"/>
<hole id="18" tsid="2"/><hole id="19" tsid="2"/></roads></filler>"""

_THEN: Final = "2026-11-15T09:13:00"

# (incident, when it was so, road, severity, cause, what a person would say of the message)
_MESSAGES: Final = (
    (17, "09:00", "A8", 5, "accident", "17 is reported"),
    (18, "09:04", "B17", 4, "flooding", "18 is reported"),
    (17, "09:12", "A8", 2, "accident", "17 is corrected: not so bad"),
    (19, "09:15", "M25", 4, "ice", "19 is reported"),
    (18, "09:20", "B17", 5, "landslide", "18 is corrected: worse"),
)


def moving() -> Iterator[str]:
    """Every message with what it changes; then the answer as of an instant in the middle."""
    yield QUESTION + "\n"
    arriving = [_HEAD.encode(), *map(_filler, _MESSAGES)]
    changes = list(query(QUESTION).watch(roads=iter(arriving), batch=1))
    for _, at, *_, said in _MESSAGES:
        yield f"{at}  {said}"
        here = [change for change in changes if show_instant(change.instant)[11:16] == at]
        yield from (f"         {'+' if c.diff > 0 else '-'} {c.item}" for c in here)
    yield from _checked(b"".join(arriving), changes)


def _checked(stream: bytes, changes: list[Change]) -> Iterator[str]:
    """The accumulated answer at 09:13, compared with the same query as of that time."""
    known = Accumulated(change for change in changes if show_instant(change.instant) <= _THEN)
    answer = list(query(QUESTION).run(as_of=_THEN, roads=stream).lines())
    same = "which is what" if answer == list(known.items()) else "which is NOT what"
    yield f"\nthe same query later, as of {_THEN[11:16]}: {'  '.join(answer)}, {same} it was then"


def _filler(message: tuple[int, str, str, int, str, str]) -> bytes:
    about, at, road, severity, cause, _ = message
    return (
        f'<filler id="{about}" tsid="2" validTime="2026-11-15T{at}:00"><incident>'
        f"<road>{road}</road><severity>{severity}</severity><cause>{cause}</cause></incident></filler>\n"
    ).encode()
