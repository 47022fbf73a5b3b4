"""What a place of a running query keeps, to bytes and back: Arrow tables with a format version.

a place that is restored from its bytes  →  emits what it would have emitted without
"""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.partitions.direct import DirectUnits
from xstreamcast.edges.partitions.host import Host
from xstreamcast.edges.partitions.later import Later
from xstreamcast.edges.partitions.links import FragmentPartitions
from xstreamcast.edges.partitions.route import Router
from xstreamcast.edges.partitions.unit_keys import KnownUnits
from xstreamcast.edges.partitions.units import UnitPartition
from xstreamcast.edges.snapshot.container import Snapshot, packed, unpacked
from xstreamcast.edges.snapshot.query import restored, taken
from xstreamcast.edges.snapshot.wire import read_decoder, write_decoder
from xstreamcast.edges.table.rows import id_texts
from xstreamcast.edges.table.scanning import Spans
from xstreamcast.edges.table.schema import arrow
from xstreamcast.edges.watching.snapshots import arriving_facts, go_on_arriving
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.errors import error
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.change import Change
from xstreamcast.model.update import RankedAnswer
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.relational.stages.staged import UnitStage
from xstreamcast.operators.snapshot.arrow import NotNow, Unreadable, Unwritten
from xstreamcast.operators.snapshot.circuit import circuit_fingerprint
from xstreamcast.operators.snapshot.history import structure_facts, structure_from
from xstreamcast.operators.snapshot.names import read_names, write_names
from xstreamcast.operators.snapshot.stage import read_part, write_part
from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
from xstreamcast.operators.snapshot.watch import read_inputs, write_inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xstreamcast.edges.watching.arriving import Arriving

_RANKED: Final = "ranked"
_UNITS: Final = "units of "
_RANKS: Final = {"key": "string", "rank": "binary"}


def frozen(place: Any) -> bytes | None:
    """What a place keeps; None if that cannot be written: it is led on from its log then."""
    try:
        match place:
            case Host():
                return _frozen_host(place)
            case DirectUnits():
                return _frozen_direct(place)
            case UnitPartition():
                return _frozen_units(place)
            case Later():
                return _frozen_later(place)
            case Router():
                return _frozen_router(place)
    except Unwritten:
        return None
    raise TypeError(place)


def thaw(place: Any, raw: bytes) -> None:
    """Give a new place what another one kept."""
    try:
        found = unpacked(raw)
        match place:
            case Host():
                _thaw_host(place, found)
            case DirectUnits():
                _thaw_direct(place, found)
            case UnitPartition():
                _thaw_units(place, found)
            case Later():
                _thaw_later(place, found)
            case Router():
                _thaw_router(place, found)
            case _:
                raise TypeError(place)
    except Unreadable as why:
        raise error(
            "XSCU0005", f"the checkpoint cannot be continued: {why}",
            hint="start with an empty checkpoint",
        ) from None  # fmt: skip


# -- a query in one place -------------------------------------------------------------------------


def _frozen_host(host: Host) -> bytes:
    decoders = {name: one.decoder for name, one in host._arriving.items()}
    facts = [arriving_facts(one) for one in host._arriving.values()]
    raw = taken(host.watch, decoders, {"arriving": facts})
    return raw if host.ranked is None else _with_ranks(raw, host.ranked)


def _with_ranks(raw: bytes, ranked: RankedAnswer) -> bytes:
    header, tables = unpacked(raw)
    columns = {"key": list(ranked.ranks), "rank": list(ranked.ranks.values())}
    tables[_RANKED] = arrow().table(columns, arrow().schema(_RANKS))
    return packed({**header, _RANKED: ranked.ticks}, tables)


def _ranks(found: Snapshot) -> RankedAnswer | None:
    """The ranks of an answer that is emitted as updates."""
    if _RANKED not in found.tables:
        return None
    keys, ranks = (found.tables[_RANKED][one].to_pylist() for one in _RANKS)
    return RankedAnswer.of(dict(zip(keys, ranks, strict=True)), found.header[_RANKED])


def _thaw_host(host: Host, found: Snapshot) -> None:
    decoders = {name: one.decoder for name, one in host._arriving.items()}
    restored(found, host.watch, decoders)
    _go_on(host._arriving, found.header["arriving"])
    host.ranked = _ranks(found) or host.ranked


def _go_on(arriving: Mapping[str, Arriving], facts: list[Any]) -> None:
    for one, state in zip(arriving.values(), facts, strict=True):
        go_on_arriving(one, state)


# -- units ----------------------------------------------------------------------------------------


def _frozen_units(units: UnitPartition) -> bytes:
    if units.watch is None:
        if units.whole is None:
            return packed({"units": "none", "facts": {}}, {})
        raw = _frozen_host(units.whole)
        header, tables = unpacked(raw)
        return packed({**header, "units": "whole"}, tables)
    run = units.watch.pipeline
    if not isinstance(run, UnitStage):
        raise NotNow("nothing runs yet")
    return taken(units.watch, units._decoders, {"units": "some"})


def _thaw_units(units: UnitPartition, found: Snapshot) -> None:
    match found.header["units"]:
        case "some":
            assert units.watch is not None
            names = found.header["decoders"]
            made = {name: Decoder(name, names=units.watch.names) for name in names}
            units._decoders = made
            restored(found, units.watch, made)
        case "whole":
            units.go_whole()
            assert units.whole is not None
            _thaw_host(units.whole, found)
        case _:
            units.watch = None


def _frozen_direct(units: DirectUnits) -> bytes:
    assert units.watch is not None
    if not isinstance(units.watch.pipeline, UnitStage):
        raise NotNow("nothing runs yet")
    arriving = units.reading._arriving
    facts = {
        "turn": units.turn,
        "now": list(units.now),
        "newest": {name: list(one) for name, one in units.newest.items()},
        "twice": units.twice,
        "arriving": [arriving_facts(one) for one in arriving.values()],
    }
    decoders = {name: one.decoder for name, one in arriving.items()}
    raw = taken(units.watch, decoders, {"direct": facts})
    if not units.known:
        return raw
    header, tables = unpacked(raw)
    for name, known in units.known.items():
        tables[_UNITS + name] = _known_table(known)
    return packed(header, tables)


def _known_table(known: KnownUnits) -> Any:
    """Ids, and the codes of their units."""
    return arrow().table({"id": id_texts(known.ids), "unit": known.units[: len(known.ids)]})


def _known_from(stream: str, table: Any) -> KnownUnits:
    ids = Ids()
    codes = Spans.of(table["id"]).codes(ids)
    assert (codes == np.arange(len(codes))).all()
    return KnownUnits(stream, ids, table["unit"].to_numpy().astype(np.int32))


def _thaw_direct(units: DirectUnits, found: Snapshot) -> None:
    assert units.watch is not None
    arriving, facts = units.reading._arriving, found.header["direct"]
    restored(found, units.watch, {name: one.decoder for name, one in arriving.items()})
    _go_on(arriving, facts["arriving"])
    units.turn, units.now = facts["turn"], Moment(*facts["now"])
    units.newest = {name: (at, zoned) for name, (at, zoned) in facts["newest"].items()}
    units.twice = dict(facts["twice"])
    for name in units.known:
        units.known[name] = _known_from(name, found.tables[_UNITS + name])


# -- later stages ---------------------------------------------------------------------------------


def _frozen_later(later: Later) -> bytes:
    to, watch, part = TableWriter(), later._watch, later._part
    to.facts["later"] = {
        "said": later.said,
        "ended": later.ended,
        "ticked": None if later._ticked_at is None else list(later._ticked_at),
        "broken": sorted(later._broken),
        "owed": list(map(astuple, later._owed)),
        "plans": watch is not None,
    }
    if watch is not None:
        feeds = watch._feeds.items()
        to.facts["watch"] = {
            "now": list(watch.now),
            "ended": sorted(map(str, watch.ended)),
            "structures": [
                [name, structure_facts(feed.history.structure)]
                for name, feed in feeds
                if isinstance(feed, FragmentFeed)
            ],
            "circuit": None if part is None else circuit_fingerprint(part.circuit),
        }
        if part is not None:
            write_part(to, "part", part)
        write_names(to, watch.names)
    raw = packed({"facts": to.facts}, to.finish())
    return raw if later.ranked is None else _with_ranks(raw, later.ranked)


def _thaw_later(later: Later, found: Snapshot) -> None:
    facts = found.header["facts"]
    state = facts["later"]
    if not state["plans"]:
        later._watch = None
    else:
        _thaw_plan(later, found)
    later.said, later.ended = dict(state["said"]), state["ended"]
    later._ticked_at = None if state["ticked"] is None else Moment(*state["ticked"])
    later._broken = {(stage, partition) for stage, partition in state["broken"]}
    later._owed = [Change(*one) for one in state["owed"]]
    later.ranked = _ranks(found) or later.ranked


def _thaw_plan(later: Later, found: Snapshot) -> None:
    assert later._watch is not None
    facts, watch = found.header["facts"]["watch"], later._watch
    read_names(found.tables, watch.names)
    now = Moment(*facts["now"])
    for name, structure in facts["structures"]:
        later._hear(("described", name, structure_from(structure), now))
    for name in facts["ended"]:
        watch.on_end(name)
    watch.now = now
    part = later._part
    if (None if part is None else circuit_fingerprint(part.circuit)) != facts["circuit"]:
        raise Unreadable("it is of another circuit: the query is planned in another way now")
    if part is not None:
        source = TableReader(found.tables, found.header["facts"], watch.names)
        read_part(source, "part", part, watch.names)


# -- the router -----------------------------------------------------------------------------------


def _frozen_router(router: Router) -> bytes:
    to = TableWriter()
    if router.why is None and router.plan.pipeline is None:
        raise NotNow("not all inputs have sent their structure")
    to.facts["router"] = {
        "turn": router.turn,
        "now": list(router.now),
        "why": router.why,
        "spread": None if router.spread is None else sorted(router.spread),
        "ended": sorted(map(str, router.ended)),
        "read": router._read,
        "arrived": router.arrived,
        "rebuilt": router.rebuilt,
        "sent": router._sent,
        "over": sorted(router._over),
        "newest": {name: list(one) for name, one in router._newest.items()},
        "arriving": [arriving_facts(one) for one in router._arriving.values()],
        "links": list(router._links),
    }
    to.arrays("batches", {"end": np.array(router._ends_at, np.int64)})
    if router.why is None:
        write_inputs(to, router.plan)
        for number, one in enumerate(router._arriving.values()):
            write_decoder(to, f"decoder{number}", one.decoder)
        for number, links in enumerate(router._links.values()):
            _write_links(to, f"links{number}", links)
        write_names(to, router.plan.names)
    return packed({"facts": to.facts}, to.finish())


def _write_links(to: TableWriter, at: str, links: FragmentPartitions) -> None:
    fragments, holes = links.fragments, links.holes
    to.arrays(f"{at}.fragments", {name: fragments[name] for name in fragments.names})
    to.arrays(f"{at}.holes", {name: holes[name] for name in holes.names})
    to.arrays(f"{at}.in", {str(number): one for number, one in enumerate(links._in)})
    to.arrays(f"{at}.unit", {"unit": links._unit})


def _thaw_router(router: Router, found: Snapshot) -> None:
    facts = found.header["facts"]
    state = facts["router"]
    source = TableReader(found.tables, facts, router.plan.names)
    router.turn, router.now, router.why = state["turn"], Moment(*state["now"]), state["why"]
    router.spread = None if state["spread"] is None else frozenset(state["spread"])
    router.ended, router._over = set(state["ended"]), set(state["over"])
    router._read, router._sent, router.arrived = state["read"], state["sent"], state["arrived"]
    router.rebuilt = state["rebuilt"]
    router._ends_at = found.tables["batches"]["end"].to_pylist()
    router._newest = {name: (at, zoned) for name, (at, zoned) in state["newest"].items()}
    if router.why is not None:
        return
    read_names(found.tables, router.plan.names)
    ids = {}
    for number, (name, one) in enumerate(router._arriving.items()):
        assert isinstance(one.decoder, Decoder)
        read_decoder(source, f"decoder{number}", one.decoder)
        ids[name] = one.decoder.ids
    read_inputs(source, router.plan, ids)
    _go_on(router._arriving, state["arriving"])
    for number, name in enumerate(state["links"]):
        router._links[name] = _read_links(source, f"links{number}", router.partitions)


def _read_links(source: TableReader, at: str, partitions: int) -> FragmentPartitions:
    links = FragmentPartitions(partitions)
    links.fragments.append(**source.arrays(f"{at}.fragments"))
    holes = source.arrays(f"{at}.holes")
    if len(holes["id"]):
        links.holes.append(**holes)
    links._places.catch_up()
    links._in = np.array([source.arrays(f"{at}.in")[str(n)] for n in range(partitions)], np.bool_)
    links._unit = source.arrays(f"{at}.unit")["unit"]
    return links
