"""Sequence types with their names resolved: used by function declarations and `instance of`."""

from __future__ import annotations

from typing import Literal

from xstreamcast.model.frozen import dataclass

Kind = Literal["node", "document", "element", "attribute", "text", "comment", "pi", "namespace"]
Occurs = Literal["one", "optional", "many", "some", "none"]


@dataclass(frozen=True, slots=True)
class AnyItem:
    """item()"""


@dataclass(frozen=True, slots=True)
class AtomicItem:
    """An atomic type, by its tag."""

    tag: int


@dataclass(frozen=True, slots=True)
class AtomicUnion:
    """xs:numeric or another union of atomic types."""

    name: str
    tags: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NodeItem:
    """A kind test: names None means any; `content` is the element test inside document-node()."""

    kind: Kind
    uri: str | None = None
    local: str | None = None
    type_tag: int | None = None
    content: NodeItem | None = None


@dataclass(frozen=True, slots=True)
class FunctionType:
    """function(*) (parameters None) or function(a, b) as r."""

    parameters: tuple[SequenceType, ...] | None = None
    result: SequenceType | None = None


@dataclass(frozen=True, slots=True)
class MapType:
    """map(*) (both None) or map(key, value)."""

    key: AtomicItem | AtomicUnion | None = None
    value: SequenceType | None = None


@dataclass(frozen=True, slots=True)
class ArrayType:
    """array(*) (None) or array(member)."""

    member: SequenceType | None = None


ItemType = AnyItem | AtomicItem | AtomicUnion | NodeItem | FunctionType | MapType | ArrayType


_AT_MOST = {"one": 1, "optional": 1, "none": 0}


@dataclass(frozen=True, slots=True)
class SequenceType:
    """An item type with how often it occurs; `none` is empty-sequence()."""

    item: ItemType
    occurs: Occurs = "one"

    @property
    def at_least(self) -> int:
        """The smallest number of items allowed."""
        return 1 if self.occurs in ("one", "some") else 0

    @property
    def at_most(self) -> int | None:
        """The largest number of items allowed, None if any."""
        return _AT_MOST.get(self.occurs)


ANY = SequenceType(AnyItem(), "many")
