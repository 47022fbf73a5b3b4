"""The functions of the map namespace: a map is a run of keys and rows of a column of values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.higher_order import by_function, invoke
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import integers, one_or, pairs, truths
from xstreamcast.functions.structured.options import OptionSpec, options_of
from xstreamcast.model.array_item import Cell, arrays_of
from xstreamcast.model.atomic import ARRAY, MAP, STRING
from xstreamcast.model.column import Column, concat_rows, gather
from xstreamcast.model.items import Items
from xstreamcast.model.map_item import Entry, MapItem, maps_of, values_of
from xstreamcast.model.map_key import map_key

if TYPE_CHECKING:
    from xstreamcast.model.function_item import Alike

Merged = dict[Hashable, Entry]


def _made(rows: Iterable[list[Entry]]) -> Column:
    return Column(maps_of(list(rows)))


# -- merge -----------------------------------------------------------------------------------

_DUPLICATES: Final = {
    "duplicates": OptionSpec(
        STRING, "use-first", ("reject", "use-first", "use-last", "use-any", "combine")
    )
}


@function("map:merge($maps as map(*)*) as map(*)")
def merge(call: CallContext, maps: Column) -> Column:
    """All entries of the maps; of two with the same key the first."""
    return _made(_merged(maps.row(i), "use-first") for i in range(maps.n))


@function("map:merge($maps as map(*)*, $options as map(*)) as map(*)")
def merge_with(call: CallContext, maps: Column, options: Column) -> Column:
    """All entries of the maps; the options say what happens to two with the same key."""
    wanted = [options_of(call, one, _DUPLICATES, "FOJS0005") for one in one_or(options)]
    return _made(_merged(maps.row(i), one["duplicates"]) for i, one in enumerate(wanted))


def _merged(maps: Items, duplicates: str) -> list[Entry]:
    found: Merged = {}
    for one in maps.values.tolist():
        for entry in one.entries():
            key = map_key(*entry[0])
            if key not in found:
                found[key] = entry
            else:
                found[key] = _both(found[key], entry, duplicates)
    return list(found.values())


def _both(first: Entry, second: Entry, duplicates: str) -> Entry:
    match duplicates:
        case "reject":
            raise error("FOJS0003", f"the key {first[0][1]} comes twice")
        case "use-last":
            return second
        case "combine":
            parts = [gather([entry[1:]]) for entry in (first, second)]
            return first[0], concat_rows(parts), 0
        case _:
            return first


# -- looking ---------------------------------------------------------------------------------


@function("map:size($map as map(*)) as xs:integer")
def size(call: CallContext, map: Column) -> Column:
    """How many entries a map has."""
    return integers(len(one) for one in one_or(map))


@function("map:keys($map as map(*)) as xs:anyAtomicType*")
def keys(call: CallContext, map: Column) -> Column:
    """The keys, in the order of the entries."""
    maps = one_or(map)
    lengths = np.fromiter(map_lengths(maps), np.int64, len(maps))
    return Column.from_lengths(Items.concat([one.own_keys() for one in maps]), lengths)


def map_lengths(maps: list[MapItem]) -> Iterable[int]:
    """The sizes of maps."""
    return (len(one) for one in maps)


@function("map:contains($map as map(*), $key as xs:anyAtomicType) as xs:boolean")
def contains(call: CallContext, map: Column, key: Column) -> Column:
    """Whether a map has an entry with this key."""
    both = zip(one_or(map), key.items.pairs(), strict=True)
    return truths(one.find(*atom) is not None for one, atom in both)


@function("map:get($map as map(*), $key as xs:anyAtomicType) as item()*")
def get(call: CallContext, map: Column, key: Column) -> Column:
    """The value of a key, () if the map has no such key."""
    return values_of(one_or(map), key.items.pairs())


@function("map:find($input as item()*, $key as xs:anyAtomicType) as array(*)")
def find(call: CallContext, source: Column, key: Column) -> Column:
    """The values of a key in all maps of the items, to any depth, as an array."""
    atoms = list(key.items.pairs())
    return Column(arrays_of([_all(source.row(i), atoms[i]) for i in range(source.n)]))


def _all(items: Items, key: tuple[int, Any]) -> list[Cell]:
    found: list[Cell] = []
    for tag, value in items.pairs():
        if tag == MAP:
            cell = value.find(*key)
            found += [] if cell is None else [cell]
            found += _all(value.own_values().items, key)
        elif tag == ARRAY:
            found += _all(value.members().items, key)
    return found


# -- making ----------------------------------------------------------------------------------


@function("map:entry($key as xs:anyAtomicType, $value as item()*) as map(*)")
def entry(call: CallContext, key: Column, value: Column) -> Column:
    """A map with one entry."""
    return _made([(atom, value, row)] for row, atom in enumerate(key.items.pairs()))


@function("map:put($map as map(*), $key as xs:anyAtomicType, $value as item()*) as map(*)")
def put(call: CallContext, map: Column, key: Column, value: Column) -> Column:
    """The map with another value for a key."""

    both = zip(one_or(map), key.items.pairs(), strict=True)
    made = [
        one.changed({map_key(*atom): (atom, value, row)}) for row, (one, atom) in enumerate(both)
    ]
    return Column(Items.of(MAP, made))


@function("map:remove($map as map(*), $keys as xs:anyAtomicType*) as map(*)")
def remove(call: CallContext, map: Column, keys: Column) -> Column:
    """The map without some keys."""
    rows = pairs(keys)
    made = [
        one.changed(dict.fromkeys(map_key(*atom) for atom in gone))
        for one, gone in zip(one_or(map), rows, strict=True)
    ]
    return Column(Items.of(MAP, made))


@function(
    "map:for-each($map as map(*), $action as function(xs:anyAtomicType, item()*) as item()*)"
    " as item()*"
)
def for_each(call: CallContext, map: Column, action: Column) -> Column:
    """The results of the function for each key and value, concatenated."""

    def work(f: Alike, maps: Column) -> Column:
        entries = [one.entries() for one in one_or(maps)]
        flat = [entry for row in entries for entry in row]
        lengths = np.fromiter((len(row) for row in entries), np.int64, len(entries))
        if not flat:
            return Column.empty(maps.n)
        keys = Items.mixed([e[0][0] for e in flat], [e[0][1] for e in flat])
        shape = Column.from_lengths(keys, lengths)
        made = invoke(call, f.at(shape.rows()), [Column(keys), gather([e[1:] for e in flat])])
        return made.regroup(shape.bounds())

    return by_function(action, [map], work)
