"""A history as tables: fragments and holes as they are, and the tapes of their payloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.model.structure import Tag, TagStructure
from xstreamcast.tape.fragments import chain_kernels as k

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xstreamcast.history.history import History
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter

_FACTS = ("arrived", "repeated", "removals", "newest", "zoned", "latest", "attaches", "_seed")


def structure_facts(structure: TagStructure) -> dict[str, Any]:
    """A tag structure as JSON has it."""
    tags = [
        [tag.id, tag.uri, tag.local, tag.type, tag.filler, list(tag.children)]
        for tag in structure.tags.values()
    ]
    identifiers = sorted(map(list, structure.identifiers))
    return {
        "root": structure.root, "open": structure.open, "tags": tags, "identifiers": identifiers,
    }  # fmt: skip


def structure_from(facts: Mapping[str, Any]) -> TagStructure:
    """A tag structure from its facts."""
    tags = {
        number: Tag(number, uri, local, kind, filler, tuple(children))
        for number, uri, local, kind, filler, children in facts["tags"]
    }
    identifiers = frozenset((e, a, kind) for e, a, kind in facts.get("identifiers", ()))
    return TagStructure(facts["root"], tags, facts["open"], identifiers)


def write_history(to: TableWriter, at: str, history: History) -> None:
    """All fragments that are kept."""
    f, h = history.fragments, history.holes
    to.arrays(f"{at}.fragments", {name: f[name] for name in f.names})
    to.arrays(f"{at}.holes", {name: h[name] for name in h.names})
    numbers = np.unique(f["tape"]).tolist()
    to.tapes(f"{at}.tapes", [history.store.tape(number) for number in numbers])
    if history._said is not None:
        said = sorted(history._said)
        to.arrays(f"{at}.said", {
            "id": np.array([one for one, _ in said], np.int64),
            "hash": np.array([one for _, one in said], np.uint64),
        })  # fmt: skip
    to.facts[f"{at}.history"] = {name: getattr(history, name) for name in _FACTS} | {
        "structure": structure_facts(history.structure),
        "tapes": numbers,
        "store": len(history.store._tapes),
    }


def read_history(source: TableReader, at: str, history: History) -> None:
    """Give a history that nothing has come to what another one held."""
    facts = source.facts[f"{at}.history"]
    for name in _FACTS:
        setattr(history, name, facts[name])
    for columns, table in ((history.fragments, "fragments"), (history.holes, "holes")):
        columns.append(**source.arrays(f"{at}.{table}"))
    history.store._tapes = [None] * facts["store"]
    for number, tape in zip(facts["tapes"], source.tapes(f"{at}.tapes"), strict=True):
        history.store._tapes[number] = tape
    if f"{at}.said" in source:
        said = source.arrays(f"{at}.said")
        history._said = set(zip(said["id"].tolist(), said["hash"].tolist(), strict=True))
    n = len(history)
    history._slots = np.full(max(2048, 1 << (4 * n).bit_length()), -1, np.int32)
    history.fragments.make_room(1)
    k.refill(history._slots, history._keys(), n)
