"""What the fragments of one file of a table contain: names, namespaces, paths to holes.

A file never changes, so what was seen in it holds for ever; of several files it is the union.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.disk import make_folder, put_whole
from xstreamcast.edges.joining import taken_in
from xstreamcast.edges.table.schema import arrow
from xstreamcast.edges.table.wire import wire
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.errors import Error, UsageError
from xstreamcast.history.guides import _owners, _path
from xstreamcast.history.history import History
from xstreamcast.model.frozen import dataclass
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from xstreamcast.algebra.analysis.guide import Name, Names
    from xstreamcast.model.structure import TagStructure

FOLDER: Final = "_guides"


@dataclass(frozen=True, slots=True)
class PayloadNames:
    """Names of elements below the roots of payloads; holes by their path and the tag they say."""

    names: frozenset[Name] = frozenset()
    binds: bool = False  # some payload binds a namespace
    holes: frozenset[tuple[Names, int]] = frozenset()

    def __or__(self, other: PayloadNames) -> PayloadNames:
        return PayloadNames(
            self.names | other.names, self.binds or other.binds, self.holes | other.holes
        )

    def json(self) -> str:
        """In one form only, so that equal ones have one name."""
        holes = sorted([list(map(list, path)), label] for path, label in self.holes)
        fields = {"names": sorted(map(list, self.names)), "binds": self.binds, "holes": holes}
        return json.dumps(fields, separators=(",", ":"))

    @staticmethod
    def of(text: str) -> PayloadNames:
        fields = json.loads(text)
        holes = ((tuple((u, n) for u, n in path), label) for path, label in fields["holes"])
        names = frozenset((uri, local) for uri, local in fields["names"])
        return PayloadNames(names, fields["binds"], frozenset(holes))


def inside_of(rows: Any, tag: int, structure: TagStructure) -> PayloadNames:
    """What the fragments of one tag contain, in the order of their rows in a file."""
    pa = arrow()
    if "tag" not in rows.column_names:
        rows = rows.append_column("tag", pa.array(np.full(rows.num_rows, tag, np.int32)))
    store = Store()
    decoder = Decoder("table", structure, names=store.names)
    history = History("table", structure, store=store, ids=decoder.ids)
    for lines in wire(rows):
        taken_in(history, decoder.feed(lines), decoder, store, [])
    taken_in(history, decoder.close(), decoder, store, [])
    guide = history.guide()
    return PayloadNames(guide.inner.get(tag, frozenset()), tag in guide.binding, _holes(history))


def _holes(history: History) -> frozenset[tuple[Names, int]]:
    h = history.holes
    owners = _owners(history)
    mixed = h["path"] ^ h["tsid"].astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    return frozenset(
        (_path(history, int(owners[at]), int(h["row"][at])), int(h["tsid"][at]))
        for at in np.unique(mixed, return_index=True)[1].tolist()
    )


# -- kept next to the table, by what they contain --------------------------------------------------


def keep_inside(table: Path, inside: PayloadNames) -> str | None:
    """Keep it under the name that is given back; None where the table cannot be written."""
    text = inside.json()
    name = hashlib.sha256(text.encode()).hexdigest()[:20]
    path = table / FOLDER / f"inside-{name}.json"
    return name if path.exists() or put(path, text) else None


def kept_inside(table: Path, name: str) -> PayloadNames | None:
    """What is kept under a name, None where that is lost."""
    path = table / FOLDER / f"inside-{name}.json"
    try:
        text = path.read_text("utf-8")
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    whole = hashlib.sha256(text.encode()).hexdigest()[:20] == name
    return _parsed(text) if whole else None


@cache
def _parsed(text: str) -> PayloadNames:
    return PayloadNames.of(text)


def put(path: Path, text: str) -> bool:
    """Write a file whole or not at all → whether that was allowed: a table may be read-only."""
    import os

    try:
        make_folder(path.parent)
        put_whole(path, text.encode(), f".{os.getpid()}")
    except (OSError, UsageError):
        return False
    return True


def together(insides: Iterable[PayloadNames | None]) -> PayloadNames | None:
    """The union; None if one of them is not known."""
    found = PayloadNames()
    for one in insides:
        if one is None:
            return None
        found |= one
    return found


def tried(rows: Any, tag: int, structure: str | None) -> PayloadNames | None:
    """`inside_of` by a structure as text; None where that does not read."""
    from xstreamcast.edges.structures import read_structure

    if structure is None:
        return None
    try:
        return inside_of(rows, tag, read_structure(structure.encode()))
    except Error:
        return None
