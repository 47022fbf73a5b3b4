"""Units by hole and version: the holes of the spine with their labels, and the content of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xstreamcast.operators.snapshot.arrow import Unwritten
from xstreamcast.operators.units.spine import Occurrence, SpineHole, UnitVersion, write_tags

if TYPE_CHECKING:
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
    from xstreamcast.operators.units.versions import VersionUnits

_FACTS = ("until", "moved", "_first")


def write_version_units(to: TableWriter, at: str, units: VersionUnits) -> None:
    """The spine, in the order of its fragments; units in the order in which they are kept."""
    arounds = _arounds(units)
    slots = [slot for around in arounds for slot in around.slots()]
    if any(around.place < 0 for around in arounds):
        raise Unwritten("fragments are dropped as soon as their units are emitted")
    number = {id(slot): n for n, slot in enumerate(slots)}
    place = {id(around): n for n, around in enumerate(arounds)}
    to.values(
        f"{at}.spine",
        key=[one.key for one in arounds], code=[one.code for one in arounds],
        place=[one.place for one in arounds], rank=[one.rank for one in arounds],
        begin=[one.begin for one in arounds], end=[one.end for one in arounds],
        zones=[one.zones for one in arounds], clip=[one.clip for one in arounds],
        tagged=[bool(one.tags) for one in arounds],
        slot=[None if one.slot is None else number[id(one.slot)] for one in arounds],
    )  # fmt: skip
    to.values(
        f"{at}.slots",
        around=[place[id(one.around)] for one in slots], code=[one.code for one in slots],
        row=[one.row for one in slots], name=[one.name for one in slots],
        label=[one.label for one in slots], order=[one.order for one in slots],
    )  # fmt: skip
    to.values(f"{at}.by_id", slot=[number[id(s)] for own in units._slots.values() for s in own])
    _write_contents(to, at, units, slots, place)
    to.arrays(f"{at}.holes_of_root", {"id": units._holes, "row": units._rows})
    to.values(f"{at}.chains", code=list(units._versions._chains))
    to.facts[f"{at}.versions"] = {name: getattr(units, name) for name in _FACTS} | {
        "dirty": list(units.dirty),
        "gone": list(units.gone.items()),
        "done": sorted(units._done),
        "roots": sorted(units._root_codes),
    }


def _arounds(units: VersionUnits) -> list[Occurrence]:
    """The fragments of the spine, each behind the one that contains it."""
    found = [] if units.root is None else [units.root]
    for around in found:  # grows while it is gone through
        for slot in around.slots():
            found += [one for one in slot.found() if isinstance(one, Occurrence)]
    return found


def _write_contents(
    to: TableWriter, at: str, units: VersionUnits, slots: list[SpineHole], place: dict[int, int]
) -> None:
    kept = list(units.units.values())
    known = {id(unit): n for n, unit in enumerate(kept)}
    number = {id(slot): n for n, slot in enumerate(slots)}
    to.values(
        f"{at}.versions",
        key=[one.key for one in kept], slot=[number[id(one.slot)] for one in kept],
        place=[one.place for one in kept], begin=[one.begin for one in kept],
        end=[one.end for one in kept], zones=[one.zones for one in kept],
        rank=[one.rank for one in kept],
    )  # fmt: skip
    standing = [
        (n, begin, slot.get(begin)) for n, slot in enumerate(slots) for begin in slot.begins()
    ]
    to.values(
        f"{at}.standing", slot=[n for n, _, _ in standing], begin=[one for _, one, _ in standing],
        around=[isinstance(one, Occurrence) for _, _, one in standing],
        number=[
            place[id(one)] if isinstance(one, Occurrence) else known[id(one)]
            for _, _, one in standing
        ],
        many=[slots[n]._many is not None for n, _, _ in standing],
    )  # fmt: skip


def read_version_units(source: TableReader, at: str, units: VersionUnits) -> None:
    """Give units to which nothing has come what others had; their history is there already."""
    facts = source.facts[f"{at}.versions"]
    for name in _FACTS:
        setattr(units, name, facts[name])
    units.dirty = dict.fromkeys(facts["dirty"])
    units.gone = {key: rank for key, rank in facts["gone"]}
    units._done, units._root_codes = set(facts["done"]), set(facts["roots"])
    holes = source.arrays(f"{at}.holes_of_root")
    units._holes, units._rows = holes["id"], holes["row"]
    arounds, slots = _read_spine(source, at)
    units.root = arounds[0] if arounds else None
    units._make_room()
    for number in source.values(f"{at}.by_id", "slot")[0]:
        units._slots.setdefault(slots[number].code, []).append(slots[number])
        units.is_slot[slots[number].code] = True
    columns = source.values(
        f"{at}.versions", "key", "slot", "place", "begin", "end", "zones", "rank"
    )
    for key, slot, *rest in zip(*columns, strict=True):
        units.units[key] = UnitVersion(key, slots[slot], *rest)
    _stand(source, at, units, arounds, slots)
    units._look()
    for code in source.values(f"{at}.chains", "code")[0]:
        units._versions._built(code)
    _write_tags(source, at, units, arounds)


def _read_spine(source: TableReader, at: str) -> tuple[list[Occurrence], list[SpineHole]]:
    """Fragments and holes refer to each other: a hole is in a fragment that was read before."""
    names = ("around", "code", "row", "name", "label", "order")
    holes: list[list[Any]] = []
    for row in zip(*source.values(f"{at}.slots", *names), strict=True):
        while len(holes) <= row[0]:
            holes.append([])
        holes[row[0]].append(row)
    arounds: list[Occurrence] = []
    slots: list[SpineHole] = []
    fields = ("key", "code", "place", "slot", "rank", "clip", "begin", "end", "zones")
    for key, code, place, slot, rank, clip, *span in zip(
        *source.values(f"{at}.spine", *fields), strict=True
    ):
        one = Occurrence(key, code, place, None if slot is None else slots[slot], rank)
        one.begin, one.end, one.zones = span
        one.clip = clip
        for _, inner, row, name, label, order in (
            holes[len(arounds)] if len(arounds) < len(holes) else ()
        ):
            made = SpineHole(one, inner, row, name, label)
            made.order = order
            (one.holes if order is None else one.attached).append(made)
            slots.append(made)
        arounds.append(one)
    return arounds, slots


def _stand(
    source: TableReader,
    at: str,
    units: VersionUnits,
    arounds: list[Occurrence],
    slots: list[SpineHole],
) -> None:
    """Put units and fragments into their holes."""
    kept = list(units.units.values())
    columns = source.values(f"{at}.standing", "slot", "begin", "around", "number", "many")
    for slot, begin, inner, number, many in zip(*columns, strict=True):
        one = slots[slot]
        if many and one._many is None:
            one._many = {}
        one.put(begin, arounds[number] if inner else kept[number])


def _write_tags(
    source: TableReader, at: str, units: VersionUnits, arounds: list[Occurrence]
) -> None:
    """The start tags around holes, from the outside in."""
    (tagged,) = source.values(f"{at}.spine", "tagged")
    by_depth: dict[int, list[Occurrence]] = {}
    for around, there in zip(arounds, tagged, strict=True):
        if there:
            by_depth.setdefault(around.depth, []).append(around)
    for depth in sorted(by_depth):
        write_tags(units._history, units._links, units.cut, by_depth[depth], units.until)
