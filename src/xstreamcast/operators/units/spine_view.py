"""The elements of a root fragment: where each is, and which of them are around a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.operators.units.units import Minis
from xstreamcast.tape.fragments.wrap import start_tag, wrapped_runs
from xstreamcast.tape.layout import ATTRIBUTE, ELEMENT, KIND, NAMESPACE, Tape, empty_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xstreamcast.history.history import History
    from xstreamcast.tape.layout import I64

SPINE: Final = "\x00"  # begins the keys of elements of a root, which no id does


def spine_key(element: int) -> str:
    """What an element is known by among units: its number in the root."""
    return f"{SPINE}{element}"


class SpineView:
    """The elements of the content of a root, numbered in document order without its holes.

    `row_of` gives the row of the element around a unit's hole, counted from the root's.
    """

    def __init__(
        self, history: History, place: int, tape: Tape, row_of: Callable[[str], int | None]
    ) -> None:
        f, h = history.fragments, history.holes
        source = history.store.tape(int(f["tape"][place])).columns
        payload = int(f["payload"][place])
        kinds = source.kind[payload : payload + int(source.size[payload]) + 1] & KIND
        own = kinds == ELEMENT
        first = int(f["holes"][place - 1]) if place else 0
        own[h["row"][first : int(f["holes"][place])] - payload] = False
        self._row_of = row_of
        self._number: I64 = np.cumsum(own) - 1  # by row
        self.tape, self._elements = tape, np.flatnonzero((tape.columns.kind & KIND) == ELEMENT)
        rows = np.flatnonzero(own)
        above = np.maximum(source.parent[rows + payload] - payload, 0)
        self._parents: list[int] = self._number[above].tolist()
        self._chains: dict[int, tuple[int, ...]] = {0: (0,)}

    def chain(self, element: int) -> tuple[int, ...]:
        """An element and those around it, from the outside in."""
        known = self._chains.get(element)
        if known is None:
            known = self._chains[element] = (*self.chain(self._parents[element]), element)
        return known

    def around(self, unit: str) -> tuple[int, ...]:
        """The elements around a unit, from the outside in; nothing if the unit is not there."""
        row = self._row_of(unit)
        return () if row is None else self.chain(int(self._number[row]))

    def elements(self, depth: int) -> list[int]:
        """The elements at a depth, in document order; the root's is 1."""
        return [one for one in range(len(self._parents)) if len(self.chain(one)) == depth]

    def said(self, element: int) -> str:
        """All that can be read of an element without its content: the tags around it."""
        return "".join(map(_said, self._tags(element)))

    def _tags(self, element: int) -> tuple[Tape, ...]:
        return tuple(start_tag(self.tape, int(self._elements[one])) for one in self.chain(element))

    def minis(self, keys: Sequence[str]) -> Minis:
        """Some elements, each empty below the start tags around it."""
        numbers = sorted(int(key.removeprefix(SPINE)) for key in keys)
        known = [one for one in numbers if one < len(self._parents)]
        nothing = np.zeros(1, np.int64)
        empty = Tape(empty_columns(0, np.zeros(0, np.uint8)), self.tape.names, self.tape.source)
        tape, begins = wrapped_runs([(self._tags(one), nothing, nothing) for one in known], empty)
        return Minis(tape, np.concatenate(begins), tuple(map(spine_key, known)))


def _said(tag: Tape) -> str:
    """A start tag as text that is the same wherever names are numbered otherwise."""
    c, parts = tag.columns, []
    for row, kind in enumerate((c.kind & KIND).tolist()):
        name = tag.names.qname(int(c.name[row])) if c.name[row] >= 0 else ("", "", "")
        text = b""
        if kind in (ATTRIBUTE, NAMESPACE):
            text = c.heap[c.start[row] : c.start[row] + c.length[row]].tobytes()
        parts.append(f"{kind} {name} {text!r}")
    return "<" + "|".join(parts) + ">"
