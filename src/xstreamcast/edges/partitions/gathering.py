"""What the places of a query have of its streams, brought together: rows, clocks and counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.edges.partitions.direct import DirectUnits
from xstreamcast.edges.partitions.kept_rows import kept_rows
from xstreamcast.edges.partitions.packing import keys_of
from xstreamcast.edges.partitions.unit_keys import linked_units, partitions_of
from xstreamcast.edges.table.rows import id_texts
from xstreamcast.edges.table.schema import arrow
from xstreamcast.edges.watching.snapshots import arriving_facts
from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
from xstreamcast.operators.units.evaluating import BEFORE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xstreamcast.algebra.analysis.guide import Guide
    from xstreamcast.edges.partitions.host import Reading
    from xstreamcast.edges.partitions.packing import Parting
    from xstreamcast.edges.partitions.places import QueryPlaces
    from xstreamcast.edges.partitions.unit_keys import KnownUnits
    from xstreamcast.evaluate.time.moments import Moment
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.operators.watching.watch import Watch


@dataclass(slots=True)
class KeptStream:
    """A stream as far as it is kept, with what its feeds know besides their histories."""

    structure: TagStructure
    rows: Any
    newest: tuple[int, bool]
    guide: Guide
    repeated: int = 0
    ended: bool = False
    links: Any = None  # ids and units, where fragments name their units
    arriving: dict[str, Any] = field(default_factory=dict)
    dropped: dict[int, int] = field(default_factory=dict)
    closed: dict[int, int] = field(default_factory=dict)
    lost: set[tuple[int, tuple[str, ...] | None]] = field(default_factory=set)


@dataclass(slots=True)
class GatheredStreams:
    """All streams of a query, and its clock."""

    streams: dict[str, KeptStream] = field(default_factory=dict)
    now: Moment = BEFORE
    unkept: bool = False


def gathered(places: QueryPlaces, parting: Parting) -> GatheredStreams:
    """What the places of a query keep; `parting`: how its streams can be partitioned."""
    watches = places.watches
    found = GatheredStreams(now=watches[0].now, unkept=any(one._unkept for one in watches))
    for name in watches[0].kinds:
        feeds = [one._feeds[name] for one in watches]
        mine = [feed for feed in feeds if isinstance(feed, ForgettingFeed)]
        assert len(mine) == len(feeds)
        found.streams[str(name)] = _stream(places, str(name), mine, parting)
    return found


def _stream(
    places: QueryPlaces, name: str, feeds: Sequence[ForgettingFeed], parting: Parting
) -> KeptStream:
    first, guide = feeds[0], feeds[0].kept.guide
    for feed in feeds[1:]:
        guide = guide.joined(feed.kept.guide)
    found = KeptStream(
        first.history.structure, None, (first.history.newest, first.history.zoned), guide,
        first.history.repeated, name in places.watches[0].ended,
        arriving=arriving_facts(_reading(places)._arriving[name]),
    )  # fmt: skip
    for feed in feeds:
        _note(found, feed)
    is_spread = name in parting.tags
    tables = [kept_rows(feed) for feed in (feeds if is_spread else feeds[:1])]
    if name in parting.inside:
        known = _known(places, name)
        if known is not None:
            found.links = known
        tables = [
            linked_units(one, parting.inside[name], parting.tags[name], known) for one in tables
        ]
    if is_spread and len(tables) > 1:
        found.repeated += sum(feed.history.repeated for feed in feeds[1:]) - _twice(places, name)
        tables = [_own(one, at, parting, name, len(tables)) for at, one in enumerate(tables)]
    found.rows = arrow().concat_tables(tables)
    return found


def _own(table: Any, number: int, parting: Parting, name: str, partitions: int) -> Any:
    """The rows of a partition's own units; of the first, those too that all partitions have.

    What was handed to all before its unit was known is the unit's.
    """
    part = partitions_of(keys_of(table, parting, name), partitions)
    return table.take(np.flatnonzero((part == number) | ((part < 0) & (number == 0))))


def _note(found: KeptStream, feed: ForgettingFeed) -> None:
    """What was dropped, which matters if the stream turns out to be another."""
    for known, more in ((found.dropped, feed._dropped), (found.closed, feed._closed)):
        for tag, valid in more.items():
            known[tag] = max(valid, known.get(tag, valid))
    names = feed.history.store.names
    found.lost |= {
        (tag, None if name < 0 else tuple(names.qname(name)[1:])) for tag, name in feed._lost
    }


def _reading(places: QueryPlaces) -> Reading:
    """What reads the rows of streams, of the first partition if all of them do."""
    if places.whole is not None:
        return places.whole
    first = places.units[0]
    assert isinstance(first, DirectUnits)
    return first.reading


def _twice(places: QueryPlaces, name: str) -> int:
    """Repetitions of what every partition has, in all but the first."""
    return sum(one.twice.get(name, 0) for one in places.units[1:] if isinstance(one, DirectUnits))


def _known(places: QueryPlaces, name: str) -> Any:
    """The units of ids, as far as fragments and links have said them."""
    known = [one.known[name] for one in places.units if isinstance(one, DirectUnits)]
    return arrow().concat_tables(map(_links, known)) if known else None


def _links(known: KnownUnits) -> Any:
    texts, units = id_texts(known.ids), known.units[: len(known.ids)]
    there = units >= 0
    pa = arrow()
    return pa.table(
        {"id": texts.filter(pa.array(there)), "unit": texts.take(pa.array(units[there]))}
    )


def give(found: GatheredStreams, places: QueryPlaces) -> None:
    """Let new places count on, and remember what was dropped."""
    for at, watch in enumerate(places.watches):
        for name, stream in found.streams.items():
            _give_feed(stream, watch, name, counts=at == 0)


def _give_feed(stream: KeptStream, watch: Watch, name: str, counts: bool) -> None:
    feed = watch._feeds[name]
    assert isinstance(feed, ForgettingFeed)
    names = feed.history.store.names
    feed._dropped, feed._closed = dict(stream.dropped), dict(stream.closed)
    feed._lost = {(tag, -1 if one is None else names.intern("", *one)) for tag, one in stream.lost}
    feed.history.newest, feed.history.zoned = stream.newest
    feed.history.repeated = stream.repeated if counts else 0
