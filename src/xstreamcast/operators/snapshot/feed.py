"""A fragment stream on its way in: what has come of it, and which units it has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.algebra.analysis.guide import Link
from xstreamcast.operators.snapshot.arrow import Unreadable, Unwritten
from xstreamcast.operators.snapshot.history import read_history, structure_facts, write_history
from xstreamcast.operators.snapshot.versions import read_version_units, write_version_units
from xstreamcast.operators.units.attached import AttachedUnits, OrderedUnits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xstreamcast.algebra.analysis.guide import Guide
    from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter

_FACTS = (
    *("until", "strict", "dropped", "_taken", "_looked", "_weighed", "_least", "_first", "_since"),
    "_batches",
)


def write_feed(to: TableWriter, at: str, feed: ForgettingFeed) -> None:
    """The history of a stream, and what the feed knows besides."""
    if feed._by_version is not None and (feed._gone.any() or feed._taken < len(feed.history)):
        raise Unwritten(f"units of {feed.history.name} were dropped")
    if feed.shared is None or feed.shared.lead is feed:
        write_history(to, at, feed.history)
    to.facts[f"{at}.feed"] = {name: getattr(feed, name) for name in _FACTS} | {
        "planned": sorted(feed._planned),
        "due": feed._due,
        "guide": _guide_facts(feed.kept.guide),
        "lost": [[tag, _named(feed, name)] for tag, name in sorted(feed._lost)],
        "dropped tags": sorted(feed._dropped.items()),
        "closed tags": sorted(feed._closed.items()),
        "structure": structure_facts(feed.history.structure),
        "early": [[code, sorted(tags)] for code, tags in sorted(feed._conforming._early.items())],
        "shared": None if feed.shared is None else feed.shared.taken,
    }
    marks = {"root": feed._of_root, "gone": feed._gone, "dead": feed._dead}
    for name, column in marks.items():
        to.arrays(f"{at}.{name}", {"number": np.flatnonzero(column)})
    checked = feed._conforming
    said = np.flatnonzero((checked._own_tag >= 0) | (checked._hole_tag >= 0))
    tags = {"own": checked._own_tag, "hole": checked._hole_tag}
    until = int(said.max(initial=-1)) + 1
    to.arrays(f"{at}.tags", {name: one[:until].astype(np.int32) for name, one in tags.items()})
    to.values(f"{at}.units", unit=list(feed._places), place=list(feed._places.values()))
    if feed._by_version is not None:
        write_version_units(to, at, feed._by_version)
    if feed._attached is not None:
        order, places = feed._attached._order, feed._attached._place
        to.values(f"{at}.attached", order=order, place=places)
        to.values(f"{at}.above", place=[feed._attached._last])


def begin_feed(source: TableReader, at: str, feed: ForgettingFeed) -> None:
    """Let a new feed keep what another one did, before it is cut into units."""
    facts = source.facts[f"{at}.feed"]
    guide = _guide_from(feed.kept.guide, facts["guide"])
    if guide != feed.kept.guide:
        feed._adapt(guide)


def end_feed(source: TableReader, at: str, feed: ForgettingFeed) -> None:
    """Give a feed that is cut, and to which nothing has come, what another one had."""
    facts = source.facts[f"{at}.feed"]
    if feed.shared is None or feed.shared.lead is feed:
        read_history(source, at, feed.history)
    if feed.shared is not None:
        feed.shared.go_on(facts["shared"])
    feed.until = facts["until"]
    feed._planned = [(instant, code) for instant, code in facts["planned"]]
    feed._due = [(instant, code) for instant, code in facts["due"]]
    if (feed._by_version is None) != (f"{at}.spine" not in source):
        raise Unreadable("units are found in a different way now")
    if feed._by_version is None:
        feed.cut_at(feed.cut)
    else:
        feed._news()
        read_version_units(source, at, feed._by_version)
    for name in _FACTS:
        setattr(feed, name, facts.get(name, 0))  # older snapshots know fewer
    names = feed.history.store.names
    lost = facts.get("lost", ())
    feed._lost = {(tag, -1 if one is None else names.intern("", *one)) for tag, one in lost}
    feed._dropped = {tag: valid for tag, valid in facts.get("dropped tags", ())}
    feed._closed = {tag: valid for tag, valid in facts.get("closed tags", ())}
    feed._of_root[:] = False
    feed._of_root[source.arrays(f"{at}.root")["number"]] = True
    gone, dead = (source.arrays(f"{at}.{name}")["number"] for name in ("gone", "dead"))
    if len(gone):
        feed._known_gone(gone)  # makes room
        feed._gone[gone] = True
    if len(dead):
        feed._bury(dead)
    tags, checked = source.arrays(f"{at}.tags"), feed._conforming
    n, room = len(tags["own"]), max(1024, 2 * len(tags["own"]))
    checked._own_tag = np.full(room, -1, checked._own_tag.dtype)
    checked._hole_tag = np.full(room, -1, checked._hole_tag.dtype)
    checked._own_tag[:n], checked._hole_tag[:n] = tags["own"], tags["hole"]
    checked._early = {code: set(tags) for code, tags in facts.get("early", ())}
    units, places = source.values(f"{at}.units", "unit", "place")
    feed._places = dict(zip(units, places, strict=True))
    if f"{at}.attached" in source:
        ((above,),) = source.values(f"{at}.above", "place")
        kind = AttachedUnits if feed.mine is None else OrderedUnits
        attached = feed._attached = kind(feed.history, feed._links, above)
        attached._order, attached._place = source.values(f"{at}.attached", "order", "place")
    feed._evaluated = []


def _named(feed: ForgettingFeed, name: int) -> list[str] | None:
    """The local name and the namespace of a name; None for what has none."""
    return None if name < 0 else list(feed.history.store.names.qname(name)[1:])


def _guide_facts(guide: Guide) -> dict[str, Any]:
    """What was seen inside the fragments of each tag, and which of them contain which."""
    return {
        "inner": [[tag, sorted(map(list, names))] for tag, names in guide.inner.items()],
        "links": [
            [tag, sorted([list(map(list, link.path)), link.child] for link in links)]
            for tag, links in guide.links.items()
        ],
    }


def _guide_from(guide: Guide, facts: Mapping[str, Any]) -> Guide:
    inner = {tag: frozenset((uri, local) for uri, local in names) for tag, names in facts["inner"]}
    links = {
        tag: frozenset(Link(tuple((u, n) for u, n in path), child) for path, child in found)
        for tag, found in facts["links"]
    }
    return replace(guide, inner=inner, links=links)
