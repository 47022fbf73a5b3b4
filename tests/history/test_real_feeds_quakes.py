"""Real earthquake reports: preliminary, reviewed, confirmed and final, each with its own time.

No expected files come with these reports; what is expected is counted in the reports themselves,
with another parser. Two mappings: the report cut into picks, amplitudes, magnitudes and origins
that count from their creation on (compared: how many of each were there at several instants, and
the whole report put together again, as canonical XML); and all origins, and all magnitudes, of one
quake as versions of one (compared: which one counted at several instants, with its value and its
status).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from xstreamcast import query
from xstreamcast.edges.cutting import cut
from xstreamcast.edges.infer import Wishes, propose
from xstreamcast.edges.infer.from_documents import graph_of_documents
from xstreamcast.edges.loading import load
from xstreamcast.edges.valid_time import valid_time
from xstreamcast.edges.wire.encoder import CLOSE, OPEN, structure_line
from xstreamcast.history.history import History
from xstreamcast.history.view import reconstruct
from xstreamcast.tape.store import Store

FEED = Path(__file__).parents[3] / "shared" / "data" / "feeds" / "quakeml"
pytestmark = pytest.mark.skipif(not FEED.is_dir(), reason="the feed of quakes is not there")

BED = "http://quakeml.org/xmlns/bed/1.2"
NAMES = (
    *("ci15481673_phase-data", "nc72182046_phase-data", "usc000p11f_phase-data"),
    "usc000nwtr_origin",
)
CUT = NAMES[:2]
KINDS = ("pick", "amplitude", "stationMagnitude", "magnitude", "origin")
CREATED = f"{{{BED}}}creationInfo/{{{BED}}}creationTime"

COUNTS = f"""
declare default element namespace "{BED}";
let $event := stream("quake")/*/*/event
return ({", ".join(f"count($event/{kind})" for kind in KINDS)})
"""
STANDING = f"""
declare default element namespace "{BED}";
for $found in stream("quake")/event/(magnitude | origin)?[now]
return string-join(($found/@publicID, $found/mag/value, $found/evaluationStatus), " ")
"""


@cache
def _event(name: str) -> Element:
    (event,) = ElementTree.parse(FEED / f"{name}.xml").getroot().iter(f"{{{BED}}}event")
    return event


def _created(one: Element) -> str:
    """As the stream tells it; what says no time was there from the beginning."""
    return (one.findtext(CREATED) or "1970-01-01T00:00:00Z").removesuffix("Z")[:19] + "Z"


def _instants(name: str, kinds: tuple[str, ...] = KINDS) -> list[str]:
    """Before all, at some creations, after all."""
    told = {_created(one) for kind in kinds for one in _all(name, kind)}
    times = sorted(time for time in told if time > "2000")
    return [
        "2000-01-01T00:00:00Z",
        *times[:: max(1, len(times) // 6)],
        times[-1],
        "2030-01-01T00:00:00Z",
    ]


def _all(name: str, kind: str) -> list[Element]:
    return _event(name).findall(f"{{{BED}}}{kind}")


@cache
def _cut(name: str) -> History:
    document = (FEED / f"{name}.xml").read_bytes()
    wishes = Wishes(temporal=tuple(f"event/{kind}" for kind in KINDS))
    structure = propose(graph_of_documents([(name, document)]), wishes).structure
    lines = cut([document], structure, valid=valid_time("creationInfo/creationTime"))
    loaded = load("quake", OPEN + structure_line(structure) + b"".join(lines) + CLOSE, Store())
    assert loaded.refused == []
    return loaded.history


@pytest.mark.parametrize("name", CUT)
def test_as_of_an_instant_there_is_what_had_been_created(name: str) -> None:
    for instant in _instants(name):
        found = list(query(COUNTS).run(quake=_cut(name), as_of=instant))
        expected = [sum(_created(one) <= instant for one in _all(name, kind)) for kind in KINDS]
        assert found == expected, instant


@pytest.mark.parametrize("name", CUT)
def test_the_report_is_the_same_put_together_again(name: str) -> None:
    whole = ElementTree.canonicalize(reconstruct(_cut(name)).serialize().decode())

    assert whole == ElementTree.canonicalize((FEED / f"{name}.xml").read_text("utf-8"))


@cache
def _chained(name: str) -> History:
    """All magnitudes as versions of one, all origins as versions of another; the newest first."""
    lines = [
        f'<structure><tag id="1" uri="{BED}" name="event" type="snapshot">'
        f'<tag id="2" uri="{BED}" name="magnitude" type="temporal"/>'
        f'<tag id="3" uri="{BED}" name="origin" type="temporal"/></tag></structure>',
        f'<filler id="0" tsid="1" validTime="1970-01-01"><event xmlns="{BED}">',
        '<hole xmlns="" id="m" tsid="2"/><hole xmlns="" id="o" tsid="3"/></event></filler>',
    ]
    for tsid, kind in ((2, "magnitude"), (3, "origin")):
        for one in sorted(_all(name, kind), key=_created, reverse=True):
            if one.findtext(CREATED) is not None:
                payload = ElementTree.tostring(one, "unicode").strip()
                head = f'id="{kind[0]}" tsid="{tsid}" validTime="{_created(one)}"'
                lines.append(f"<filler {head}>{payload}</filler>")
    loaded = load("quake", "".join(lines).encode(), Store())
    assert loaded.refused == []
    return loaded.history


@pytest.mark.parametrize("strategy", ["caq", "qac", "qac+"])
@pytest.mark.parametrize("name", NAMES)
def test_the_newest_solution_of_each_instant_counts(name: str, strategy: str) -> None:
    for instant in _instants(name, ("magnitude", "origin")):
        answer = query(STANDING).run(quake=_chained(name), as_of=instant, strategy=strategy)
        found = list(answer.lines())
        expected = [
            _shown(max(known, key=_created))
            for kind in ("magnitude", "origin")
            if (known := [one for one in _all(name, kind) if _counts(one, instant)])
        ]
        assert found == expected, instant


def _counts(one: Element, instant: str) -> bool:
    return one.find(CREATED) is not None and _created(one) <= instant


def _shown(one: Element) -> str:
    words = (f"{{{BED}}}mag/{{{BED}}}value", f"{{{BED}}}evaluationStatus")
    told = [one.findtext(word) for word in words]
    return " ".join([one.attrib["publicID"], *(text for text in told if text is not None)])
