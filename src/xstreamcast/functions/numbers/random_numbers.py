"""fn:random-number-generator: numbers and permutations that a seed decides."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast import string_value
from xstreamcast.functions.cast.calendar import calendar_text
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import pairs
from xstreamcast.functions.signature import parse_type
from xstreamcast.model.atomic import DATE_TIME, DOUBLE, FUNCTION, STRING
from xstreamcast.model.column import Column
from xstreamcast.model.function_item import FunctionItem
from xstreamcast.model.items import Items
from xstreamcast.model.map_item import maps_of

if TYPE_CHECKING:
    from xstreamcast.model.map_item import Entry

_GENERATOR: Final = parse_type("map(xs:string, item())")
_ANY: Final = parse_type("item()*")


@function("fn:random-number-generator() as map(xs:string, item())")
def generator(call: CallContext) -> Column:
    """A number, a way to more of them, and one to shuffle: the same within one evaluation."""
    return Column(Items.concat([_generator(_default(call))] * call.n))


@function("fn:random-number-generator($seed as xs:anyAtomicType?) as map(xs:string, item())")
def seeded_generator(call: CallContext, seed: Column) -> Column:
    """A number, a way to more of them, and one to shuffle, all decided by the seed."""
    seeds = (_seed(row[0]) if row else _default(call) for row in pairs(seed))
    return Column(Items.concat([_generator(one) for one in seeds]))


def _default(call: CallContext) -> str:
    return calendar_text(DATE_TIME, call.current)


def _seed(atom: tuple[int, object]) -> str:
    tag, value = atom
    return f"{tag}:{string_value(tag, value)}"


def _generator(seed: str) -> Items:
    source = random.Random(seed)
    number, following = source.random(), f"{source.getrandbits(128):x}"

    def next_(call: CallContext) -> Column:
        return Column.constant(_generator(following), call.n)

    def permute(call: CallContext, items: Column) -> Column:
        order = np.concatenate(
            [_shuffled(following, a, b) for a, b in _ranges(items)] or [np.zeros(0, np.int64)]
        )
        return Column(items.items.take(order), items.offsets)

    functions = {
        "next": FunctionItem(None, 0, (), _GENERATOR, next_),
        "permute": FunctionItem(None, 1, (_ANY,), _ANY, permute),
    }
    entries: list[Entry] = [((STRING, "number"), Column(Items.of(DOUBLE, [number])), 0)]
    entries += [
        ((STRING, name), Column(Items.of(FUNCTION, [item])), 0) for name, item in functions.items()
    ]
    return maps_of([entries])


def _ranges(column: Column) -> list[tuple[int, int]]:
    bounds = column.bounds().tolist()
    return list(itertools.pairwise(bounds))


def _shuffled(seed: str, start: int, end: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    places = list(range(start, end))
    random.Random(seed).shuffle(places)
    return np.array(places, np.int64)
