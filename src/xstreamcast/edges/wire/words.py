"""The words of the wire in every dialect: what an element or attribute name means there."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from xstreamcast.model.fragment import STREAM
from xstreamcast.tape.layout import I32, U8
from xstreamcast.tape.names import Names

NOTHING, FILLER, REPEAT, REPLACE, REMOVE, EOS, STRUCTURE, HEARTBEAT, HOLE = range(9)
PLAIN: Final = 16  # bit: the name has neither prefix nor namespace
FOREIGN: Final = 32  # bit: its prefix is `stream`, but bound to something else than we bind it to
MEANING: Final = 15

_ELEMENTS: Final = {
    "filler": FILLER,
    "repeat": REPEAT,
    "replace": REPLACE,
    "remove": REMOVE,
    "eos": EOS,
    "structure": STRUCTURE,
    "tagstructure": STRUCTURE,
    "tag": STRUCTURE,  # seed 001 writes a structure without anything around it
    "heartbeat": HEARTBEAT,
    "hole": HOLE,
}
ID, TSID, VALID_TIME, IN, VALID_TO, MESSAGE_TIME, VERSION, TEMPORARY, TIMELESS, UNIT = range(1, 11)
ATTRIBUTES: Final = {
    "id": ID,
    "tsid": TSID,
    "validtime": VALID_TIME,
    "in": IN,
    "validto": VALID_TO,
    "messagetime": MESSAGE_TIME,
    "version": VERSION,
    "temporary": TEMPORARY,
    "timeless": TIMELESS,  # its valid time is that of its arrival
    "unit": UNIT,  # its unit
}


class Words:
    """For each name of a `Names`: what it means as element and as attribute, and its key.

    Two names have the same key if they have the same local part and namespace.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._keys: dict[tuple[str, str], int] = {}
        self.elements: U8 = np.zeros(0, np.uint8)
        self.attributes: U8 = np.zeros(0, np.uint8)
        self.keys: I32 = np.zeros(0, np.int32)

    def catch_up(self) -> None:
        """Add the names that were met since."""
        known, met = len(self.elements), len(self._names)
        if known == met:
            return
        new = [self._names.qname(name) for name in range(known, met)]
        self.elements = _more(self.elements, [_element(*name) for name in new])
        self.attributes = _more(self.attributes, [_attribute(*name) for name in new])
        self.keys = _more(self.keys, [self.key(uri, local) for _, local, uri in new])

    def key(self, uri: str, local: str) -> int:
        """The key of a name."""
        return self._keys.setdefault((uri, local), len(self._keys))


def _element(prefix: str, local: str, uri: str) -> int:
    meaning = _ELEMENTS.get(local.lower() if local == "tagStructure" else local, NOTHING)
    if uri == STREAM or not meaning:
        return meaning
    if prefix == "stream":
        return meaning | FOREIGN
    if meaning == HOLE and not prefix:  # below a default namespace it may be ours all the same
        return meaning | PLAIN | (FOREIGN if uri else 0)
    return NOTHING if uri else meaning | PLAIN


def _attribute(prefix: str, local: str, uri: str) -> int:
    if uri not in ("", STREAM) and prefix != "stream":
        return NOTHING
    return ATTRIBUTES.get(local.lower(), NOTHING)


def _more(column: Any, new: list[int]) -> Any:
    return np.concatenate([column, np.array(new, column.dtype)])
