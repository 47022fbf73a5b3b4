"""Items end to end in arrays: what a column holds, without an object for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from xstreamcast.model.atomic import (
    BOOLEAN,
    BY_TAG,
    DOUBLE,
    FLOAT,
    MIXED,
    NODE,
    PRIMITIVE,
    UNTYPED,
)
from xstreamcast.model.atomic import INTEGER as INTEGER_TAG

if TYPE_CHECKING:
    Ints = npt.NDArray[np.int64]
    Array = npt.NDArray[Any]


class TextSource(Protocol):
    """An object that reads the string values of nodes: a store of tapes."""

    def strings(self, handles: Ints) -> Array: ...

    def string_bytes(self, handles: Ints) -> tuple[Array, Ints]: ...


class Items:
    """Items of one type (`tag`), or of several (`tag` MIXED, `tags` for each).

    values: int64 for nodes (handles); bool for booleans; float64 for doubles and floats; int64, or
    objects beyond its range, for integers; objects (str, Decimal, dates, …) otherwise.
    Mixed items are an object array. Untyped values that come from nodes stay handles (`nodes`)
    until `values` is read: kernels compare, hash and convert them without strings.
    """

    __slots__ = ("_values", "nodes", "store", "tag", "tags")

    def __init__(self, tag: int, values: Array | None, tags: Array | None = None) -> None:
        self.tag = tag
        self.tags = tags
        self._values = values
        self.nodes: Ints | None = None
        self.store: TextSource | None = None

    # -- making ---------------------------------------------------------------------------------

    @staticmethod
    def of(tag: int, values: Sequence[Any]) -> Items:
        """Python values of one type."""
        return Items(tag, array_of(tag, values))

    @staticmethod
    def mixed(tags: Sequence[int], values: Sequence[Any]) -> Items:
        """Python values, each with its type; uniform if they all agree."""
        if len(tags) == 0:
            return empty_items()
        if all(tag == tags[0] for tag in tags):
            return Items.of(tags[0], values)
        return Items(MIXED, objects(values), np.asarray(tags, np.uint8))

    @staticmethod
    def of_nodes(handles: Ints) -> Items:
        """Nodes, by handle."""
        return Items(NODE, handles)

    @staticmethod
    def text_of(store: TextSource, handles: Ints, tag: int = UNTYPED) -> Items:
        """The string values of nodes, not yet read: untyped, or cast to a string already."""
        items = Items(tag, None)
        items.nodes, items.store = handles, store
        return items

    @staticmethod
    def concat(parts: Sequence[Items]) -> Items:
        """All items of all parts in order."""
        live = [part for part in parts if len(part)]
        if not live:
            return empty_items()
        if len(live) == 1:
            return live[0]
        if live[0].tag == MIXED or any(part.tag != live[0].tag for part in live):
            values = np.concatenate([part.as_objects() for part in live])
            return Items(MIXED, values, np.concatenate([part.all_tags() for part in live]))
        if all(part.nodes is not None and part.store is live[0].store for part in live):
            assert live[0].store is not None
            nodes = np.concatenate([part.nodes for part in live if part.nodes is not None])
            return Items.text_of(live[0].store, nodes, live[0].tag)
        if any(part.values.dtype == object for part in live):
            return Items(live[0].tag, np.concatenate([part.as_objects() for part in live]))
        return Items(live[0].tag, np.concatenate([part.values for part in live]))

    # -- looking --------------------------------------------------------------------------------

    @property
    def values(self) -> Array:
        """The array of values, read from their nodes on first use."""
        if self._values is None:
            assert self.store is not None
            assert self.nodes is not None
            self._values = self.store.strings(self.nodes)
        return self._values

    def __len__(self) -> int:
        return len(self.nodes) if self._values is None else len(self._values)  # type: ignore[arg-type]

    def all_tags(self) -> Array:
        """The type of every item."""
        return np.full(len(self), self.tag, np.uint8) if self.tags is None else self.tags

    def kinds(self) -> frozenset[int]:
        """The types that occur."""
        if self.tags is None:
            return frozenset({self.tag}) if len(self) else frozenset()
        return frozenset(np.unique(self.tags).tolist())

    def as_objects(self) -> Array:
        """The values as Python objects."""
        return self.values if self.values.dtype == object else self.values.astype(object)

    def pairs(self) -> Iterator[tuple[int, Any]]:
        """(type, Python value) of every item."""
        return zip(self.all_tags().tolist(), self.values.tolist(), strict=True)

    # -- making another of it -------------------------------------------------------------------

    def take(self, index: Ints) -> Items:
        """The items at the given places."""
        if self._values is None:
            assert self.store is not None
            assert self.nodes is not None
            return Items.text_of(self.store, self.nodes[index], self.tag)
        taken = Items(
            self.tag,
            self._values[index],
            None if self.tags is None else self.tags[index],
        )
        return taken.settled() if self.tag == MIXED else taken

    def slice(self, start: int, end: int) -> Items:
        """A run of the items; arrays are shared, not copied."""
        if self._values is None:
            assert self.store is not None
            assert self.nodes is not None
            return Items.text_of(self.store, self.nodes[start:end], self.tag)
        tags = None if self.tags is None else self.tags[start:end]
        part = Items(self.tag, self._values[start:end], tags)
        return part.settled() if self.tag == MIXED else part

    def repeated(self, n: int) -> Items:
        """A single item n times, without n copies of it."""
        if self.tag == MIXED or self._values is None:
            return self.take(np.zeros(n, np.int64))
        if n == 1 and len(self._values) == 1:
            return self
        first = self._values[:1]
        if first.dtype == object:
            return Items(self.tag, np.broadcast_to(first, (n,)))
        # The same view as that of broadcast_to, at a tenth of its cost.
        return Items(self.tag, np.ndarray((n,), first.dtype, first, 0, (0,)))

    def settled(self) -> Items:
        """Mixed items that turn out to be of one type, as items of that type."""
        if self.tags is None or len(self) == 0:
            return self if self.tags is None else empty_items()
        first = int(self.tags[0])
        if (self.tags == first).all():
            return Items.of(first, self.values.tolist())
        return self

    def __repr__(self) -> str:
        name = {NODE: "node", MIXED: "mixed"}.get(self.tag) or (
            BY_TAG[self.tag].name if self.tag in BY_TAG else "function"
        )
        return f"<Items {len(self)} {name}>"


_LEAST, _MOST = -(1 << 63), (1 << 63) - 1  # what int64 holds


def array_of(tag: int, values: Sequence[Any]) -> Array:
    """The array that holds Python values of one type."""
    if tag == NODE:
        return np.asarray(values, np.int64)
    primitive = PRIMITIVE.get(tag)
    if primitive == BOOLEAN:
        return np.asarray(values, np.bool_)
    if primitive in (DOUBLE, FLOAT):
        return np.asarray(values, np.float64)
    if primitive == INTEGER_TAG and all(_LEAST <= value <= _MOST for value in values):
        return np.asarray(values, np.int64)
    return objects(values)


def objects(values: Sequence[Any]) -> Array:
    """An object array, one cell for each value of any type."""
    out = np.empty(len(values), object)
    out[:] = values
    return out


def empty_items() -> Items:
    """No item."""
    return Items(NODE, np.empty(0, np.int64))
