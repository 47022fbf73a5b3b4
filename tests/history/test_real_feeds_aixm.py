"""Real aviation data with temporality: baselines, corrections, deltas, and a withdrawal.

Three complete data sets are the expected files: what a system must hold on three dates. The stream
is made of the first data set without its newest feature and of the updates alone; compared is
every feature of the complete set of each date, as canonical XML. In an update, a time slice is a
version of its feature from its begin on; a correction has the begin of what it corrects and
replaces it; the end of the feature's lifetime removes it. The last complete set shows the withdrawn
feature as it was up to its end: it is compared with the last second before.

The same life as deltas: each property is a fragment of its own, and a delta sends those that
change. Compared are the values of the properties with those in the complete sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from xstreamcast import query
from xstreamcast.edges.loading import load
from xstreamcast.history.history import History
from xstreamcast.tape.store import Store

FEED = Path(__file__).parents[3] / "shared" / "data" / "feeds" / "aixm-temporality"
pytestmark = pytest.mark.skipif(not FEED.is_dir(), reason="the feed of aviation data is not there")

AIXM, GML = "http://www.aixm.aero/schema/5.1.1", "http://www.opengis.net/gml/3.2"
MESSAGE = "http://www.aixm.aero/schema/5.1.1/message"
MEMBER, PERIOD = f"{{{MESSAGE}}}hasMember", f"{{{GML}}}TimePeriod"
BEGIN, END = f"{{{GML}}}beginPosition", f"{{{GML}}}endPosition"
DATES = ("20181206", "20190131", "20191205")
NEWEST = "uuid.008591e1-3173-42f3-bd7e-68be78c7d1cf"
PROPERTIES = ("designator", "type", "name", "location")

FEATURES = """
for $feature in stream("aixm")/*/*/*?[now]
return element { node-name($feature) } {
  $feature/@*[not(name() = ("vtFrom", "vtTo"))], $feature/node()
}
"""
VALUES = """
for $point in stream("aixm")/*:points/*:DesignatedPoint?[now]
return string-join($point/*//text()[normalize-space()], "|")
"""


@cache
def _features(name: str) -> list[Element]:
    root = ElementTree.parse(FEED / f"EA_AIP_DS_{name}_AIRAC.xml").getroot()
    return [member[0] for member in root.iter(MEMBER)]


def _slices(feature: Element) -> Iterator[Element]:
    """The feature once for each of its time slices, with that slice alone."""
    slices = feature.findall(f"{{{AIXM}}}timeSlice")
    for one in slices:
        alone = Element(feature.tag, feature.attrib)
        alone.extend(inner for inner in feature if inner is one or inner not in slices)
        yield alone


def _bound(feature: Element, where: str, which: str) -> str | None:
    uri = GML if where == "validTime" else AIXM
    return feature.findtext(f".//{{{uri}}}{where}/{PERIOD}/{which}")


def _versions(features: list[Element]) -> list[str]:
    lines = []
    for feature in features:
        for one in _slices(feature):
            begin = _bound(one, "validTime", BEGIN)
            lines.append(_filler(_id(one), _tsid(one), begin, ElementTree.tostring(one, "unicode")))
            end = _bound(one, "featureLifetime", END)
            lines += [f'<remove id="{_id(one)}" validTime="{end}"/>'] if end else []
    return lines


def _whole(features: list[Element]) -> list[str]:
    """Features that no update changes, each as it is."""
    return [
        _filler(_id(one), _tsid(one), "2009-01-01", ElementTree.tostring(one, "unicode"))
        for one in features
    ]


def _id(feature: Element) -> str:
    return feature.attrib[f"{{{GML}}}id"]


NAMES = sorted({one.tag for one in _features("FULL_20181206")}) if FEED.is_dir() else []


def _tsid(feature: Element) -> int:
    return 3 + NAMES.index(feature.tag)


def _filler(name: str, tsid: int, valid: str | None, payload: str) -> str:
    return f'<filler id="{name}" tsid="{tsid}" validTime="{valid}">{payload}</filler>'


def _structure() -> str:
    below = "".join(
        f'<tag id="{i}" uri="{AIXM}" name="{tag.rpartition("}")[2]}" type="temporal"/>'
        for i, tag in enumerate(NAMES, start=3)
    )
    return (
        f'<structure><tag id="1" uri="{MESSAGE}" name="AIXMBasicMessage" type="snapshot">'
        f'<tag id="2" uri="{MESSAGE}" name="hasMember" type="snapshot">{below}</tag></tag>'
        "</structure>"
    )


def _root(features: list[Element]) -> str:
    holes = "".join(
        f'<m:hasMember><hole id="{_id(one)}" tsid="{_tsid(one)}"/></m:hasMember>'
        for one in features
    )
    message = f'<m:AIXMBasicMessage xmlns:m="{MESSAGE}">{holes}</m:AIXMBasicMessage>'
    return _filler("0", 1, "2000-01-01", message)


@cache
def _history(*updates: str) -> History:
    """What is known after the updates: the first data set without its newest feature, and them."""
    first = _features("FULL_20181206")
    old = [one for one in first if _id(one) != NEWEST]
    lines = [_structure(), *_whole(old), _root(first)]
    for name in updates:
        lines += _versions(_features(name))
    return _loaded(lines)


def _loaded(lines: list[str]) -> History:
    loaded = load("aixm", "".join(lines).encode(), Store())
    assert loaded.refused == []
    return loaded.history


def _as_of(history: History, instant: str, strategy: str = "auto") -> list[str]:
    answer = query(FEATURES).run(aixm=history, as_of=instant, strategy=strategy)
    return [_canonical(line) for line in answer.lines()]


def _canonical(xml: str) -> str:
    return ElementTree.canonicalize(xml, strip_text=True, rewrite_prefixes=True)


@cache
def _complete(date: str) -> list[str]:
    return [_canonical(ElementTree.tostring(one, "unicode")) for one in _features(f"FULL_{date}")]


@pytest.mark.parametrize("strategy", ["caq", "qac", "qac+"])
@pytest.mark.parametrize(
    ("known", "instant"),
    [(1, "2018-12-06T00:00:00Z"), (2, "2019-01-31T00:00:00Z"), (3, "2019-12-04T23:59:59Z")],
)
def test_updates_give_the_complete_data_set_of_the_date(
    known: int, instant: str, strategy: str
) -> None:
    history = _history(*(f"UPD_BL_{date}" for date in DATES[:known]))

    assert _as_of(history, instant, strategy) == _complete(DATES[known - 1])


def test_the_withdrawn_feature_ends_with_its_lifetime_and_stays_in_the_past() -> None:
    history = _history(*(f"UPD_BL_{date}" for date in DATES))
    newest = _complete("20191205")[-1]

    assert _as_of(history, "2019-12-05T00:00:00Z") == _complete("20191205")[:-1]
    assert _as_of(history, "2019-01-31T00:00:00Z") == [*_complete("20191205")[:-1], newest]
    corrected = next(_slices(_features("UPD_BL_20190131")[0]))
    first = _canonical(ElementTree.tostring(corrected, "unicode"))
    assert _as_of(history, "2019-01-30T23:59:59Z") == [*_complete("20191205")[:-1], first]
    assert _as_of(history, "2018-12-05T23:59:59Z") == _complete("20191205")[:-1]


def _deltas() -> History:
    """The newest feature's properties as fragments: each delta sends those that it changes."""
    inner = "".join(
        f'<tag id="{i}" uri="{AIXM}" name="{name}" type="temporal"/>'
        for i, name in enumerate(PROPERTIES, start=3)
    )
    lines = [
        f'<structure><tag id="1" name="points" type="snapshot"><tag id="2" uri="{AIXM}" '
        f'name="DesignatedPoint" type="temporal">{inner}</tag></tag></structure>',
        _filler("0", 1, "2000-01-01", f'<points><hole id="{NEWEST}" tsid="2"/></points>'),
    ]
    for date in DATES:
        (feature,) = _features(f"UPD_DELTA_{date}")
        lines += _delta(feature)
    return _loaded(lines)


def _delta(feature: Element) -> Iterator[str]:
    valid = feature.findtext(f".//{{{GML}}}timePosition")
    if feature.findtext(f".//{{{AIXM}}}sequenceNumber") == "1":
        holes = "".join(
            f'<hole id="{name}" tsid="{i}"/>' for i, name in enumerate(PROPERTIES, start=3)
        )
        point = f'<a:DesignatedPoint xmlns:a="{AIXM}">{holes}</a:DesignatedPoint>'
        yield _filler(NEWEST, 2, valid, point)
    for i, name in enumerate(PROPERTIES, start=3):
        for found in feature.iter(f"{{{AIXM}}}{name}"):
            yield _filler(name, i, valid, ElementTree.tostring(found, "unicode").strip())
    if end := _bound(feature, "featureLifetime", END):
        yield f'<remove id="{NEWEST}" validTime="{end}"/>'


def _values(date: str) -> str:
    (feature,) = (one for one in _features(f"FULL_{date}") if _id(one) == NEWEST)
    found = [one for name in PROPERTIES for one in feature.iter(f"{{{AIXM}}}{name}")]
    return "|".join(text for one in found for text in one.itertext() if text.strip())


def test_deltas_give_the_values_of_the_complete_data_set_of_the_date() -> None:
    history = _deltas()
    expected = {
        "2018-12-05T23:59:59Z": [],
        "2018-12-06T00:00:00Z": [_values("20181206")],
        "2019-01-30T23:59:59Z": [_values("20181206")],
        "2019-01-31T00:00:00Z": [_values("20190131")],
        "2019-12-04T23:59:59Z": [_values("20191205")],
        "2019-12-05T00:00:00Z": [],
    }
    for instant, values in expected.items():
        assert list(query(VALUES).run(aixm=history, as_of=instant).lines()) == values, instant
