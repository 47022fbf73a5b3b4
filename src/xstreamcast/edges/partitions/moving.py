"""State to another number of partitions: new places read what the old ones keep.

Every operator is a function of the fragments that are kept and of the clock; only the names of
items in the answer depend on what came before. So the new places read the kept fragments, and items
keep the names under which they were emitted; those that cannot are retracted and emitted again. A
router has logged all that arrived, because it may need it: new places read its log.

items of the answer before a move  →  those after it, in the same order; else it is an error
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.partitions.direct import DirectUnits
from xstreamcast.edges.partitions.gathering import gathered, give
from xstreamcast.edges.table.rows import RowEncoder
from xstreamcast.edges.table.schema import arrow
from xstreamcast.edges.watching.snapshots import go_on_arriving
from xstreamcast.errors import Error, error
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.counted import counted
from xstreamcast.model.fragment import Ended, NewStructure
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.operators.forgetting.forgetting import ForgettingFeed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xstreamcast.edges.partitions.gathering import GatheredStreams
    from xstreamcast.edges.partitions.host import WatchRequest
    from xstreamcast.edges.partitions.packing import Parting
    from xstreamcast.edges.partitions.places import Logged, QueryPlaces
    from xstreamcast.edges.partitions.route import Router
    from xstreamcast.model.change import Change
    from xstreamcast.operators.relational.emit import Emit


class Unmoved(Exception):
    """The state of a query cannot be moved, and why."""


def move(old: QueryPlaces, new: QueryPlaces, parting: Parting) -> None:
    """Bring new places to where the old ones are; `parting`: how streams can be partitioned.

    Unmoved where that cannot be done.
    """
    emitted, now = _checked(old), _now(old)
    try:
        if old.router is not None and old.router.why is None:
            _replay(old.router, old.log, new)
        else:
            _rebuild(old, new, parting)
    except Forbidden as why:
        raise Unmoved(str(why)) from None
    made = new.emitted
    if made is None or _is_broken(new):
        raise Unmoved("an error holds its answer back")
    if [item for _, item in made.answer()] != [item for _, item in emitted.answer()]:
        raise Unmoved("its answer is not that of the fragments that are kept")
    _take_over_said(old, new, made.go_on_from(emitted, now))


def _now(places: QueryPlaces) -> int:
    return max(watch.now.instant for watch in places.watches)


def _checked(old: QueryPlaces) -> Emit:
    """The answer that was emitted, if all of the state is a function of what is kept."""
    emitted = old.emitted
    if emitted is None:
        raise Unmoved("not all inputs have sent their structure")
    if not emitted.is_whole:
        raise Unmoved("items of its answer are no longer kept")
    if _is_broken(old):
        raise Unmoved("an error holds its answer back")
    for watch in old.watches:
        if watch._uncut or watch._as_written:
            raise Unmoved("its streams are read whole")
        if watch._owed or watch._unsaid:
            raise Unmoved("changes wait to be emitted")
        if any(isinstance(f, ForgettingFeed) and f._gone.any() for f in watch._feeds.values()):
            raise Unmoved("units were dropped that its answer has")
    return emitted


def _is_broken(places: QueryPlaces) -> bool:
    later = places.later.values()
    return any(one._broken or one._owed for one in later)


def _replay(router: Router, log: Sequence[Logged], new: QueryPlaces) -> None:
    """The log of a router, batch by batch, and its clock: others may have moved that."""
    options = router.request
    limited = options.lateness is not None or options.skew is not None
    if router.rebuilt and limited:
        raise Unmoved("when fragments that were moved before had come is not known")
    for logged in log:
        new.replay(logged)
    if new.router is not None:
        new.router.now, new.router._newest = router.now, dict(router._newest)
        new.router.rebuilt = router.rebuilt
    if new.host is not None:
        new.host.watch.now = router.now
    new.take({})


def _rebuild(old: QueryPlaces, new: QueryPlaces, parting: Parting) -> None:
    """What is kept, as one batch behind the structures."""
    found = gathered(old, parting)
    if new.router is not None:
        new.router.rebuilt = True
    for watch in new.watches:
        watch._unkept = found.unkept
    _set_clock(new, found)
    options = _set_options(new)
    new.take(
        {name: _said(name, NewStructure(one.structure)) for name, one in found.streams.items()}
    )
    _adapt(new, found)
    ends = {name: _said(name, Ended()) for name, one in found.streams.items() if one.ended}
    tables = {
        name: arrow().concat_tables([one.rows, *([ends[name]] if name in ends else [])])
        for name, one in found.streams.items()
    }
    links = {name: one.links for name, one in found.streams.items() if one.links is not None}
    new.take(tables, links)
    _set_options(new, options)
    _set_clock(new, found)
    give(found, new)


def _set_options(new: QueryPlaces, options: WatchRequest | None = None) -> WatchRequest:
    """What was kept was in time when it came: it is read without limits, and with them again."""
    readers = [one for one in (new.host, new.router, *new.units) if one is not None]
    wholes = [one.whole for one in new.units if one.whole is not None]
    before = readers[0].request
    for one in (*readers, *wholes):
        one.request = options or replace(before, lateness=None, skew=None)
    return before


def _adapt(new: QueryPlaces, found: GatheredStreams) -> None:
    """New feeds know of streams what the old ones did, and where the clock is."""
    for watch in new.watches:
        for name, stream in found.streams.items():
            feed = watch._feeds[name]
            assert isinstance(feed, ForgettingFeed)
            feed.reach(found.now.instant)
            if (guide := feed.kept.guide.joined(stream.guide)) != feed.kept.guide:
                feed._adapt(guide)


def _said(name: str, what: NewStructure | Ended) -> Any:
    return arrow().Table.from_batches([RowEncoder(name, Ids(), first=1 << 62).rows(what)])


def _set_clock(new: QueryPlaces, found: GatheredStreams) -> None:
    """Where the clock is, and the newest instant of each stream."""
    newest = {name: one.newest for name, one in found.streams.items()}
    for one in (new.host, new.router):
        for name, stream in found.streams.items() if one is not None else ():
            go_on_arriving(one._arriving[name], stream.arriving)  # type: ignore[union-attr]
    if new.host is not None:
        new.host.watch.now = found.now
    if new.router is not None:
        new.router.now, new.router._newest = found.now, dict(newest)
    for unit in new.units:
        if isinstance(unit, DirectUnits):
            unit.now, unit.newest, unit.twice = found.now, dict(newest), {}


def _take_over_said(old: QueryPlaces, new: QueryPlaces, owed: list[Change]) -> None:
    """Counts of what is said at the end, and changes that the next batch emits."""
    for reader in (new.host, new.router, *(one.whole for one in new.units)):
        if reader is not None:
            reader.refused = []  # it was reported on arrival
    if new.last is None:
        if owed:
            raise Unmoved("its answer has other names in one place")
        return
    new.last._owed = owed
    new.last.refused = []
    new.last.said, new.last.ended = {}, False
    if old.last is not None:
        new.last.said, new.last.ended = dict(old.last.said), old.last.ended


def unmoved(why: Unmoved | Error, before: int, now: int) -> Error:
    """The error that says what to do."""
    said = why.message if isinstance(why, Error) else str(why)
    return error(
        "XSCU0005", f"the checkpoint cannot be moved from {before} to "
        f"{counted(now, 'partition')}: {said}",
        hint=f"start it with --partitions {before}, or with an empty checkpoint and a new sink",
    )  # fmt: skip
