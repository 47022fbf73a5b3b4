"""Real map edits: every version of relations and ways, whose members change independently.

The history holds all versions of all elements. The expected files that come with it show each
version of the relation or way with the version that each member had when it began ("member", "nd")
and with the versions that members got while it was current ("update"). Compared is all of it: the
attributes and tags of every version, every member in order with version, changeset and position,
every update with index, version, time, changeset and position; updates as a set, for their order
says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.sax.saxutils import quoteattr

import pytest

from xstreamcast import query
from xstreamcast.edges.loading import load
from xstreamcast.history.history import History
from xstreamcast.tape.store import Store

FEED = Path(__file__).parents[3] / "shared" / "data" / "feeds" / "osm-history"
pytestmark = pytest.mark.skipif(not FEED.is_dir(), reason="the feed of map edits is not there")

NAMES = ("way_230391153", "way_6394949", "relation_4017808", "relation_2714790")
MEMBERS = ("nd", "member")
# An edit is uploaded piece by piece: what belongs to it counts from the relation's version on.
EDIT = timedelta(minutes=30)

STRUCTURE = """<stream:structure><tag id="1" name="osm" type="snapshot">{parents}</tag>
</stream:structure>"""
PARENT = """<tag id="{id}" name="{name}" type="temporal"><tag id="{id}1" name="tag"/>
<tag id="{id}2" name="{member}">{kinds}</tag></tag>"""
KINDS = {"node": 3, "way": 4, "relation": 5}

VERSIONS = """
for $p in stream("osm")/osm/*
return element { name($p) } {
  $p/@*[not(name() = ("vtFrom", "vtTo"))],
  $p/tag,
  for $m in $p/(nd | member)
  return element { name($m) } {
    $m/@*, $m/*[vtFrom(.) = vtFrom($p)]/(@version, @changeset, @lat, @lon)
  },
  for $m at $number in $p/(nd | member), $later in $m/*[vtFrom(.) > vtFrom($p)]
  return <update index="{ $number - 1 }">{
    $later/(@version, @changeset, @timestamp, @lat, @lon)
  }</update>
}
"""
CURRENT = """
for $m in stream("osm")/osm/*?[now]/(nd | member)
return string-join(($m/@type, $m/@ref, $m/*/@version), " ")
"""


@dataclass(frozen=True, slots=True)
class Feed:
    """All versions of all elements, and the element whose versions are expected."""

    elements: list[Element]
    parents: list[Element]

    def valid(self) -> dict[int, datetime]:
        """From when each version counts, by its place among the elements.

        The nearest version of a member up to half an hour before the relation's, or as long after
        it in the same changeset, is part of the same edit.
        """
        found = {i: _time(one) for i, one in enumerate(self.elements)}
        snapped: dict[int, timedelta] = {}
        chains: dict[tuple[str, str], list[int]] = {}
        for i, one in enumerate(self.elements):
            chains.setdefault((one.tag, one.attrib["id"]), []).append(i)
        for chain in chains.values():
            for parent in self.parents:
                near = [i for i in chain if _of_edit(self.elements[i], parent)]
                at = min(near, key=lambda i: (_apart(self.elements[i], parent), -i), default=None)
                if at is not None:
                    apart = _apart(self.elements[at], parent)
                    if apart < snapped.get(at, EDIT * 2):
                        snapped[at], found[at] = apart, _time(parent)
        return found


def _time(one: Element) -> datetime:
    return datetime.fromisoformat(one.attrib["timestamp"].replace("Z", "+00:00"))


def _apart(one: Element, parent: Element) -> timedelta:
    return abs(_time(one) - _time(parent))


def _of_edit(one: Element, parent: Element) -> bool:
    if _apart(one, parent) > EDIT:
        return False
    before = _time(one) <= _time(parent)
    return before or one.attrib["changeset"] == parent.attrib["changeset"]


def _feed(name: str) -> Feed:
    kind, _, number = name.partition("_")
    elements = list(ElementTree.parse(FEED / f"{name}.osm").getroot())
    elements.sort(key=lambda one: int(one.attrib["version"]))
    parents = [one for one in elements if (one.tag, one.attrib["id"]) == (kind, number)]
    return Feed(elements, parents)


def _expected(name: str) -> list[Element]:
    return list(ElementTree.parse(FEED / f"{name}_expected.osm").getroot())


def _stream(feed: Feed) -> bytes:
    """The feed as fragments: members first, then what they are members of, the root last."""
    parent, valid = feed.parents[0], feed.valid()
    lines = [_structure(parent)]
    for i, one in enumerate(feed.elements):
        if one.attrib["id"] != parent.attrib["id"]:
            lines.append(_fragment(one, valid[i], KINDS[one.tag], _start(one) + "/>"))
    for one in feed.parents:
        lines.append(_fragment(one, _time(one), 2, _parent(one)))
    hole = _hole(f"{parent.tag}/{parent.attrib['id']}", 2)
    first = min(valid.values()).isoformat()
    lines.append(f'<filler id="0" tsid="1" validTime="{first}"><osm>{hole}</osm></filler>')
    return "".join(lines).encode()


def _structure(parent: Element) -> str:
    member = "nd" if parent.tag == "way" else "member"
    kinds = "".join(f'<tag id="{i}" name="{n}" type="temporal"/>' for n, i in KINDS.items())
    below = PARENT.format(id=2, name=parent.tag, member=member, kinds=kinds)
    return STRUCTURE.format(parents=below)


def _fragment(one: Element, valid: datetime, tsid: int, payload: str) -> str:
    head = f'id="{one.tag}/{one.attrib["id"]}" tsid="{tsid}" validTime="{valid.isoformat()}"'
    if one.attrib["visible"] == "false":
        return f"<remove {head}/>"
    return f"<filler {head}>{payload}</filler>"


def _start(one: Element) -> str:
    return f"<{one.tag}" + "".join(f" {name}={quoteattr(v)}" for name, v in one.attrib.items())


def _parent(one: Element) -> str:
    """Tags as they are; a hole in each member for the versions of what it refers to."""
    content = ""
    for inner in one:
        kind = inner.attrib.get("type", "node")
        hole = _hole(f"{kind}/{inner.attrib['ref']}", KINDS[kind]) if inner.tag in MEMBERS else ""
        content += f"{_start(inner)}>{hole}</{inner.tag}>"
    return f"{_start(one)}>{content}</{one.tag}>"


def _hole(name: str, tsid: int) -> str:
    return f'<hole id="{name}" tsid="{tsid}"/>'


@cache
def _history(name: str) -> History:
    loaded = load("osm", _stream(_feed(name)), Store())
    assert loaded.refused == []
    return loaded.history


def _said(one: Element) -> tuple[object, ...]:
    """What a version says, in a form that can be compared."""
    return (
        one.tag,
        one.attrib,
        [(inner.tag, inner.attrib) for inner in one if inner.tag == "tag"],
        [(inner.tag, inner.attrib) for inner in one if inner.tag in MEMBERS],
        sorted(sorted(inner.attrib.items()) for inner in one if inner.tag == "update"),
    )


@pytest.mark.parametrize("strategy", ["caq", "qac", "qac+"])
@pytest.mark.parametrize("name", NAMES)
def test_every_version_has_the_members_it_had_and_got(name: str, strategy: str) -> None:
    answer = query(VERSIONS).run(osm=_history(name), strategy=strategy)

    found = [_said(ElementTree.fromstring(line)) for line in answer.lines()]
    assert found == [_said(one) for one in _expected(name)]


@pytest.mark.parametrize("strategy", ["caq", "qac", "qac+"])
@pytest.mark.parametrize("name", NAMES)
def test_as_of_an_instant_members_have_the_versions_of_then(name: str, strategy: str) -> None:
    expected, history = _expected(name), _history(name)
    updates = [one.attrib["timestamp"] for parent in expected for one in parent.iter("update")]
    instants = sorted({one.attrib["timestamp"] for one in expected} | set(updates))
    for instant in instants[:: max(1, len(instants) // 12)]:
        answer = query(CURRENT).run(osm=history, as_of=instant, strategy=strategy)
        found = list(answer.lines())
        assert found == _members_at(expected, instant), instant


def _members_at(expected: list[Element], instant: str) -> list[str]:
    """The members of the last version up to then, with the updates up to then."""
    parent = [one for one in expected if one.attrib["timestamp"] <= instant][-1]
    members = [dict(one.attrib) for one in parent if one.tag in MEMBERS]
    for update in sorted(parent.iter("update"), key=lambda one: int(one.attrib["version"])):
        if update.attrib["timestamp"] <= instant:
            members[int(update.attrib["index"])]["version"] = update.attrib["version"]
    words = ("type", "ref", "version")
    return [" ".join(one[word] for word in words if word in one) for one in members]
