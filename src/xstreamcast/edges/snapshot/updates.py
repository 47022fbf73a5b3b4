"""A decoder of an update stream between two lines: its regions, their content, and what was sent.

The tree is three tables (leaves, elements, regions). Its places are numbered in document order, the
parent of a place before it: a new tree is made by appending them in that order.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.updates.events import Begin
from xstreamcast.edges.updates.lines import LineReading
from xstreamcast.edges.updates.regions import EventCounts
from xstreamcast.edges.updates.tags import Learnt
from xstreamcast.edges.updates.tree import (
    Leaf,
    Region,
    TreeElement,
    TreeNode,
    elements_on_top,
)
from xstreamcast.edges.updates.tuples import Tuples
from xstreamcast.operators.snapshot.arrow import NotNow, Unwritten
from xstreamcast.operators.snapshot.history import structure_facts, structure_from
from xstreamcast.operators.snapshot.names import read_ids, write_ids

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xstreamcast.edges.updates.decoder import UpdateDecoder
    from xstreamcast.edges.updates.fragments import Cutter
    from xstreamcast.edges.updates.regions import Regions
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter

_WRAP: Final = -1  # the element around the streams, which is in no tree
_LEAVES: Final = ("number", "above", "token")
_ELEMENTS: Final = ("number", "above", "token", "ended", "tag", "fragment", "sent")
_REGIONS: Final = (
    *("number", "above", "id", "begun", "slot", "cursor", "ended", "hidden", "frozen", "counts"),
    "sent",
)


def write_updates(to: TableWriter, at: str, decoder: UpdateDecoder) -> None:
    """Put a decoder into tables; Unwritten if it reads XML, or leaves out what is immutable."""
    reading, tags = decoder._reading, decoder._cutter._tags
    if reading is not None and not isinstance(reading, LineReading):
        raise Unwritten(f"{decoder.name} is an update stream that is written as XML")
    if decoder._fixing is not None or not isinstance(tags, Learnt):
        raise Unwritten(f"{decoder.name} is an update stream with immutable elements")
    if decoder._waiting:
        raise NotNow(f"{decoder.name} has fragments that were not sent")
    write_ids(to, f"{at}.ids", decoder.ids)
    numbers = _write_tree(to, at, decoder._cutter.regions)
    _write_tags(to, at, tags)
    sent, known = decoder.structure, decoder._cutter.structure
    to.facts[f"{at}.updates"] = {
        "structure": None if sent is None else structure_facts(sent),
        "known": sent is known,
        "open": decoder._open_form,
        "lines": None if reading is None else _line_facts(reading),
        "tuples": None if decoder._tuples is None else _tuple_facts(decoder._tuples),
        "regions": _region_facts(decoder._cutter.regions, numbers),
        "cutter": _cutter_facts(decoder._cutter, numbers),
    }


def read_updates(source: TableReader, at: str, decoder: UpdateDecoder) -> None:
    """Give a new decoder what another one had."""
    facts, cutter = source.facts[f"{at}.updates"], decoder._cutter
    read_ids(source, f"{at}.ids", decoder.ids)
    assert isinstance(cutter._tags, Learnt)
    _read_tags(source, at, cutter._tags)
    places = _read_tree(source, at, cutter.regions)
    _read_regions(facts["regions"], cutter.regions, places)
    _read_cutter(facts["cutter"], cutter, places)
    if facts["structure"] is not None:
        known = cutter.structure if facts["known"] else structure_from(facts["structure"])
        assert known is not None
        decoder.structure, decoder._wire = known, decoder._new_wire(known)
    decoder._open_form = facts["open"]
    if facts["lines"] is not None:
        decoder._reading = reading = LineReading()
        kept, reading._offset, reading._line = facts["lines"]
        reading._kept += kept.encode("latin-1")
    if facts["tuples"] is not None:
        decoder._tuples = Tuples()
        begun, wrapped = facts["tuples"]
        decoder._tuples._begun, decoder._tuples._wrapped = set(begun), dict(wrapped)


def _line_facts(reading: LineReading) -> list[Any]:
    return [reading._kept.decode("latin-1"), reading._offset, reading._line]


def _tuple_facts(tuples: Tuples) -> list[Any]:
    return [sorted(tuples._begun), list(tuples._wrapped.items())]


# -- the tree -------------------------------------------------------------------------------------


def _write_tree(to: TableWriter, at: str, regions: Regions) -> dict[TreeNode, int]:
    """The places below the top → their numbers; that of the top is 0."""
    numbers: dict[TreeNode, int] = {}
    todo: list[TreeNode] = [regions.top]
    while todo:
        place = todo.pop()
        numbers[place] = len(numbers)
        todo.extend(reversed(list(place.children())))
    leaves, elements, found = [], [], []
    for place, number in numbers.items():
        where = number, 0 if place.above is None else numbers[place.above]
        match place:
            case Leaf(token=token):
                leaves.append((*where, token))
            case TreeElement():
                facts_of = place.tag, place.fragment, place.sent
                elements.append((*where, place.token, place.ending is not None, *facts_of))
            case Region():
                found.append((*where, *_region(place, numbers)))
            case _:
                pass
    _write_rows(to, f"{at}.leaves", _LEAVES, leaves)
    _write_rows(to, f"{at}.elements", _ELEMENTS, elements)
    _write_rows(to, f"{at}.regions", _REGIONS, found)
    return numbers


def _region(region: Region, numbers: Mapping[TreeNode, int]) -> tuple[Any, ...]:
    begun = region.begun and (region.begun.kind, region.begun.target, region.begun.id)
    flags = region.ended, region.hidden, region.frozen
    counts = tuple(region.counts.items())
    return region.id, begun, region.slot, numbers[region.cursor], *flags, counts, region.sent


def _write_rows(
    to: TableWriter, name: str, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]
) -> None:
    parts = zip(*rows, strict=True) if rows else ((),) * len(columns)
    to.values(name, **dict(zip(columns, parts, strict=True)))


def _read_tree(source: TableReader, at: str, regions: Regions) -> list[TreeNode]:
    """Rebuild the tree → its places by number."""
    made: dict[int, tuple[int, TreeNode]] = {}
    for number, above, token in zip(*source.values(f"{at}.leaves", *_LEAVES), strict=True):
        made[number] = above, Leaf(tuple(token))
    for number, above, *values in zip(*source.values(f"{at}.elements", *_ELEMENTS), strict=True):
        made[number] = above, _branch(*values)
    cursors = {}
    for number, above, *said in zip(*source.values(f"{at}.regions", *_REGIONS), strict=True):
        id, begun, slot, cursor, ended, hidden, frozen, counts, sent = said
        region = Region(id, None if begun is None else Begin(*begun), slot)
        region.ended, region.hidden, region.frozen = ended, hidden, frozen
        region.counts, region.sent, cursors[region] = dict(counts), sent, cursor
        made[number] = above, region
    places: list[TreeNode] = [regions.top]
    for number in range(1, len(made) + 1):
        above, place = made[number]
        places[above].append(place)
        places.append(place)
    for region, cursor in cursors.items():
        region.cursor = places[cursor]
    return places


def _branch(
    token: Any, ended: bool, tag: int, fragment: str | None, sent: bytes | None
) -> TreeElement:
    word, *rest = token
    if rest:
        rest[1] = tuple((name, value) for name, value in rest[1])
    made = TreeElement((word, *rest))
    made.tag, made.fragment, made.sent = tag, fragment, sent
    if ended:
        made.ending = ("eE", rest[0]) if rest else ("eT",)
    return made


# -- regions, tags, what is to be sent ------------------------------------------------------------


def _region_facts(regions: Regions, numbers: Mapping[TreeNode, int]) -> dict[str, Any]:
    if any(region not in numbers for region in regions._named.values()):
        raise NotNow("a region is open in what a replacement took away")
    return {
        "counts": asdict(regions.counts),
        "named": [[id, numbers[region]] for id, region in regions._named.items()],
        "frozen": sorted(regions._frozen),
        "places": regions._places,
    }


def _read_regions(facts: Mapping[str, Any], regions: Regions, places: list[TreeNode]) -> None:
    regions.counts = EventCounts(**facts["counts"])
    for id, number in facts["named"]:
        region = places[number]
        assert isinstance(region, Region)
        regions._named[id] = region
    regions._frozen, regions._places = set(facts["frozen"]), facts["places"]


def _write_tags(to: TableWriter, at: str, tags: Learnt) -> None:
    to.facts[f"{at}.tags"] = {
        "names": [list(name) for name in tags._ids],
        "children": [[tag, list(own)] for tag, own in tags._children.items()],
        "travelling": sorted(tags._travelling),
    }


def _read_tags(source: TableReader, at: str, tags: Learnt) -> None:
    facts = source.facts[f"{at}.tags"]
    tags._ids = {(uri, local): at for at, (uri, local) in enumerate(facts["names"], start=1)}
    tags._children = {tag: dict.fromkeys(own) for tag, own in facts["children"]}
    tags._travelling = set(facts["travelling"])


def _cutter_facts(cutter: Cutter, numbers: Mapping[TreeNode, int]) -> dict[str, Any]:
    wrap = cutter._wrap
    known = numbers if wrap is None else {**numbers, wrap: _WRAP}
    if cutter._root is not None and cutter._root not in known:
        raise NotNow("the document element was taken away")
    return {
        "wrap": None if wrap is None else [wrap.token[1], wrap.tag, _text(wrap.sent)],
        "root": None if cutter._root is None else known[cutter._root],
        "touched": [cutter._above, cutter._recut],
        "regions": [known[one] for one in cutter._regions if one in known],
        "hosts": [known[one] for one in cutter._hosts if one in known],
        "removed": [
            at for one, at in numbers.items() if isinstance(one, TreeElement) and one.removed
        ],
        "serial": cutter._serial,
        "told": cutter.sent_hosts,
        "instant": None if cutter._instant is None else list(cutter._instant),
    }


def _read_cutter(facts: Mapping[str, Any], cutter: Cutter, places: list[TreeNode]) -> None:
    if facts["wrap"] is not None:
        name, tag, sent = facts["wrap"]
        cutter._wrap = TreeElement(("sE", name, ()))
        cutter._wrap.tag = tag
        cutter._wrap.sent = None if sent is None else sent.encode("latin-1")

    def place(number: int) -> Any:
        return cutter._wrap if number == _WRAP else places[number]

    cutter._root = None if facts["root"] is None else place(facts["root"])
    cutter._above, cutter._recut = facts["touched"]
    cutter._regions = {place(number): None for number in facts["regions"]}
    cutter._hosts = {place(number): None for number in facts["hosts"]}
    for number in facts.get("removed", ()):
        place(number).removed = True
    for region in (one for one in places if isinstance(one, Region) and one.hidden):
        region.was_hidden = True
        if "removed" not in facts:  # an older snapshot: without the holes, and nothing was removed
            for element in elements_on_top(region):
                element.sent = None
    cutter._serial, cutter.sent_hosts = facts["serial"], facts["told"]
    cutter._instant = None if facts["instant"] is None else tuple(facts["instant"])


def _text(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode("latin-1")
