"""Which unit each fragment names as its own, and whether links lead to the same one.

A fragment inside of a unit goes to the partition of the unit that it names. A link to it from a
unit of another partition would find nothing there, without an error. So what is said of an
id, by its own fragments and by those that hold it, comes together in the partition of the id.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import unescape

import numpy as np

from xstreamcast.edges.table.scanning import Spans
from xstreamcast.edges.table.schema import WORDS, arrow
from xstreamcast.errors import DataPlace, error
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.frozen import dataclass
from xstreamcast.operators.relational.stages.routing import partition_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from xstreamcast.tape.layout import I32, I64, Bools

_IN: Final = re.compile(r"""\sin=(?:"([^"]*)"|'([^']*)')""")
_ENTITIES: Final = {"&quot;": '"', "&apos;": "'", "&#9;": "\t", "&#10;": "\n", "&#13;": "\r"}
_NONE: Final = -1
HINT: Final = (
    "correct the stream or its tag structure; or start it with --partitions 1 and an empty "
    "checkpoint, where only links decide which unit a fragment belongs to"
)


@dataclass(frozen=True, slots=True)
class Inside:
    """The tags of fragments that name their unit, and the tag of the root."""

    tags: frozenset[int]
    root: int


def unit_keys(table: Any, own: Collection[int], inside: Inside) -> Any:
    """The unit of each row, as far as the row says it: of the fragments of some tags."""
    pa = arrow()
    pc = pa.compute
    tagged = pc.is_in(table["tag"], pa.array(sorted(own), pa.int32()))
    tags = pa.array([-1, *sorted(inside.tags)], pa.int32())  # a removal may have no tag
    within = pc.is_in(pc.fill_null(table["tag"], -1), tags)
    named = table["unit"] if "unit" in table.column_names else pa.nulls(len(table), pa.string())
    key = pc.if_else(tagged, table["id"], pc.if_else(within, named, pa.scalar(None, pa.string())))
    is_fragment = pc.is_in(table["operation"], pa.array(WORDS))
    return pc.if_else(is_fragment, key, pa.scalar(None, pa.string()))


def links_of(table: Any, keys: Any, inside: Inside) -> Any:
    """(id, unit) as rows state them: of themselves, of what they hold, and of what holds them.

    What the root holds is a unit.
    """
    pa = arrow()
    pc = pa.compute
    at = np.flatnonzero(pc.is_valid(keys).to_numpy())
    mine, key = table.take(at), keys.take(at)
    said = [(mine["id"], key)]
    if "unit" in table.column_names:
        others = pc.fill_null(pc.not_equal(mine["unit"], key), False)
        named = np.flatnonzero(others.to_numpy())
        said.append((mine["id"].take(named), mine["unit"].take(named)))
    if "holes" in table.column_names:
        said.append(_held(mine["holes"], key))
        roots = table.filter(pc.equal(table["tag"], inside.root))
        children, _ = _held(roots["holes"], roots["id"])
        said.append((children, children))
    said.append(_parents(mine, key))
    made = [pa.table({"id": id, "unit": unit}) for id, unit in said]
    return pa.concat_tables(made).combine_chunks()


def _held(holes: Any, key: Any) -> tuple[Any, Any]:
    """The ids in holes, each with the unit of its holder."""
    pa = arrow()
    if len(holes) == 0:
        return pa.array([], pa.string()), pa.array([], pa.string())
    flat = holes.combine_chunks() if isinstance(holes, pa.ChunkedArray) else holes
    counts = pa.compute.fill_null(flat.value_lengths(), 0).to_numpy(zero_copy_only=False)
    return flat.flatten().field("id"), key.take(np.repeat(np.arange(len(counts)), counts))


def _parents(rows: Any, key: Any) -> tuple[Any, Any]:
    """The parents that rows name, with the units of the rows; those of units are the root."""
    pa = arrow()
    pc = pa.compute
    found, units = list[str](), list[str]()
    some = pc.and_(pc.is_valid(rows["attributes"]), pc.not_equal(rows["id"], key))
    for at in np.flatnonzero(pc.fill_null(some, False).to_numpy()).tolist():
        named = _IN.search(rows["attributes"][at].as_py())
        if named is not None:
            found.append(unescape(named[1] or named[2] or "", _ENTITIES))
            units.append(key[at].as_py())
    return pa.array(found, pa.string()), pa.array(units, pa.string())


def partitions_of(texts: Any, partitions: int) -> I64:
    """The partition of each text, -1 where there is none; each different one is looked at once."""
    coded = arrow().compute.dictionary_encode(texts)
    coded = coded.combine_chunks() if hasattr(coded, "combine_chunks") else coded
    each = [partition_of(one, partitions) for one in coded.dictionary.to_pylist()]
    codes = arrow().compute.fill_null(coded.indices, len(each))
    found: I64 = np.array([*each, _NONE], np.int64)[codes.to_numpy(zero_copy_only=False)]
    return found


class KnownUnits:
    """The unit of each id of one partition, by all that was said of it so far."""

    def __init__(self, stream: str, ids: Ids | None = None, units: I32 | None = None) -> None:
        self.stream, self.ids = stream, Ids() if ids is None else ids
        self.units = np.zeros(0, np.int32) if units is None else units  # by id; -1: none is known

    def take(self, links: Any) -> None:
        """Learn ids and units; what contradicts an earlier statement is an error."""
        codes = Spans.of(links["id"]).codes(self.ids)
        units = Spans.of(links["unit"]).codes(self.ids)
        if (more := len(self.ids) - len(self.units)) > 0:
            room = np.full(max(more, len(self.units)), _NONE, np.int32)
            self.units = np.concatenate((self.units, room))
        fresh: Bools = self.units[codes] == _NONE
        self.units[codes[fresh]] = units[fresh]
        wrong: Bools = self.units[codes] != units
        if wrong.any():
            self._refuse(codes[wrong], units[wrong])

    def _refuse(self, codes: I32, units: I32) -> None:
        id, other = self.ids.text(int(codes[0])), self.ids.text(int(units[0]))
        unit = self.ids.text(int(self.units[codes[0]]))
        raise error(
            "XSCU0005",
            f"fragment {id} is declared in unit {unit}, and in unit {other} too: by the "
            "attribute unit of a fragment, or by a link",
            at=DataPlace(self.stream, id, None), hint=HINT,
        )  # fmt: skip


def linked_units(table: Any, inside: Inside, own: Collection[int], known: Any = None) -> Any:
    """Rows with the units of fragments inside of units, as `known`; else by links.

    None where neither says it: all partitions are handed such a fragment.
    """
    ids, tags = _columns(table, "id", "tag")
    if known is None:
        units = {id for id, tag in zip(ids, tags, strict=True) if tag in own}
        parent = _parents_by_link(table)
        unit_of = {id: _climbed(id, parent, units) for id in set(ids)}
    else:
        unit_of = dict(zip(*_columns(known, "id", "unit"), strict=True))
    within = inside.tags | {_NONE}
    found = [unit_of.get(id) if tag in within else None for id, tag in zip(ids, tags, strict=True)]
    column = arrow().array(found, arrow().string())
    return table.set_column(table.column_names.index("unit"), "unit", column)


def _columns(table: Any, *names: str) -> tuple[list[Any], ...]:
    return tuple(table[name].to_pylist() for name in names)


def _parents_by_link(table: Any) -> dict[str, str]:
    """The fragment that contains each one, by holes and by name."""
    ids, holes, said = _columns(table, "id", "holes", "attributes")
    found = {hole["id"]: id for id, own in zip(ids, holes, strict=True) for hole in own or ()}
    for id, attributes in zip(ids, said, strict=True):
        named = None if attributes is None else _IN.search(attributes)
        if named is not None:
            found[id] = unescape(named[1] or named[2] or "", _ENTITIES)
    return found


def _climbed(id: str, parent: dict[str, str], units: set[str]) -> str | None:
    """The unit around a fragment; None if the way up ends before one."""
    seen, at = set[str](), id
    while at not in units:
        if at in seen or at not in parent:
            return None
        seen.add(at)
        at = parent[at]
    return at
