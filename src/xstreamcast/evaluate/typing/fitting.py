"""Whether the value of one row has a type, found without a look at its items."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from xstreamcast.model.atomic import ARRAY, FUNCTION, MAP, NODE, derives
from xstreamcast.model.row import SingleRow
from xstreamcast.model.sequence_type import (
    AnyItem,
    ArrayType,
    AtomicItem,
    FunctionType,
    ItemType,
    MapType,
    NodeItem,
)

if TYPE_CHECKING:
    from xstreamcast.model.column import Column
    from xstreamcast.model.sequence_type import SequenceType

_MOST: Final = 4096
# By identity, since the hash of a type costs more than the look at a value. The type is held, so
# that no other gets its identity.
_known: Final[dict[int, tuple[SequenceType, Callable[[Column], bool]]]] = {}

# types that the tag alone decides, besides atomic ones
_BY_TAG: Final[dict[ItemType, tuple[int, ...]]] = {
    MapType(): (MAP,),
    ArrayType(): (ARRAY,),
    FunctionType(): (MAP, ARRAY, FUNCTION),
    NodeItem("node"): (NODE,),
}


def fitting(wanted: SequenceType) -> Callable[[Column], bool]:
    """Whether a value has the type, as far as that is known without reading its items."""
    known = _known.get(id(wanted))
    if known is None:
        if len(_known) >= _MOST:
            _known.clear()
        known = _known[id(wanted)] = wanted, _fitting(wanted)
    return known[1]


@lru_cache(maxsize=256)
def _fitting(wanted: SequenceType) -> Callable[[Column], bool]:
    least, most = wanted.at_least, wanted.at_most
    tags: dict[int, bool] = {}
    target = wanted.item.tag if isinstance(wanted.item, AtomicItem) else None
    anything = isinstance(wanted.item, AnyItem)
    if wanted.item in _BY_TAG:
        tags.update(dict.fromkeys(_BY_TAG[wanted.item], True))

    def fits(column: Column) -> bool:
        if column.__class__ is SingleRow:
            tag, count = column.tag, len(column.cells)
        else:
            tag, count = column.items.tag, len(column.items)
        if count < least or (most is not None and count > most):
            return False
        if anything or not count:
            return True
        known = tags.get(tag)
        if known is None:
            known = tags[tag] = target is not None and derives(tag, target)
        return known

    return fits
