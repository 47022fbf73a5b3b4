"""Small histories, written as fragments."""

from __future__ import annotations

from xstreamcast.edges.loading import Loaded, load
from xstreamcast.history.history import History
from xstreamcast.history.view import reconstruct, view
from xstreamcast.model.instant import NOW, parse_instant
from xstreamcast.tape.store import Store

CREDIT = """<stream:structure>
<tag type="snapshot" id="1" name="accounts"><tag type="temporal" id="2" name="account">
<tag type="snapshot" id="3" name="customer"/><tag type="temporal" id="4" name="limit"/>
<tag type="event" id="5" name="charge"><tag type="temporal" id="6" name="status"/>
<tag type="snapshot" id="7" name="amount"/></tag>
<tag type="snapshot" filler="true" id="8" name="address"><tag ref="4"/></tag></tag></tag>
</stream:structure>"""


def filler(name: int | str, tsid: int, day: str | None, payload: str, word: str = "filler") -> str:
    """One fragment; `day` is a day of January 2003, or a whole instant."""
    valid = "" if day is None else f' validTime="{instant(day)}"'
    return f'<{word} id="{name}" tsid="{tsid}"{valid}>{payload}</{word}>'


def remove(name: int | str, day: str) -> str:
    return f'<remove id="{name}" validTime="{instant(day)}"/>'


def instant(day: str) -> str:
    return f"2003-01-{int(day):02}" if day.isdigit() else day


def hole(name: int | str, tsid: int) -> str:
    return f'<hole id="{name}" tsid="{tsid}"/>'


def loaded(fragments: list[str], structure: str = CREDIT) -> Loaded:
    """What these fragments make, one after the other."""
    return load("credit", (structure + "".join(fragments)).encode(), Store())


def told(fragments: list[str], structure: str = CREDIT) -> History:
    done = loaded(fragments, structure)
    assert done.refused == []
    return done.history


def seen(history: History, day: str | None = None) -> str:
    """The temporal view, dates of January 2003 as days."""
    until = NOW if day is None else (parse_instant(instant(day)) or (0, False))[0]
    return shortened(view(history, until).serialize().decode())


def current(history: History) -> str:
    return reconstruct(history).serialize().decode()


def shortened(xml: str) -> str:
    for day in range(1, 32):
        xml = xml.replace(f"2003-01-{day:02}T00:00:00", str(day))
    return xml
