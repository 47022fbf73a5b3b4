"""Feeds that send all there is each time: what is missing in a delivery is gone.

delivery 1: a b   delivery 2: a c   →   b removed at the time of delivery 2
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.edges.mapping.asking import XPath
from xstreamcast.model.fragment import Op
from xstreamcast.model.instant import START

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.form import Mapping, UnitRule
    from xstreamcast.edges.mapping.messages import Batch
    from xstreamcast.edges.mapping.units import Found, Times
    from xstreamcast.model.fragment import FragmentBatch
    from xstreamcast.tape.store import Store


@dataclass(slots=True)
class Last:
    """The last delivery of a part of a feed: when it was said, and of which units."""

    said: int = START
    units: dict[int, int] = field(default_factory=dict)  # id → its tag
    gone: dict[int, int] = field(default_factory=dict)  # id → when it was last removed


class Deliveries:
    """The last delivery of each part of a feed (of all of it, if it has no parts)."""

    def __init__(self, mapping: Mapping, rule: UnitRule) -> None:
        self.last: dict[str, Last] = {}
        self._part: XPath | None = None
        if isinstance(rule.whole, str):
            self._part = XPath(mapping, f"unit.{rule.name}.whole", rule.whole)

    def taken(
        self,
        made: FragmentBatch,
        kind: Found,
        batch: Batch,
        said: Times,
        store: Store,
    ) -> FragmentBatch:
        """The fragments of a batch, with removals of what deliveries no longer hold."""
        fits = ~kind.skip
        fits[list(kind.why)] = False
        message = kind.message[fits]
        parts = self._parts(store, batch)
        out: list[tuple[int, int, int]] = []  # row that says it, id, when
        valid = made.valid.copy()
        for number, part in enumerate(parts):
            rows = np.flatnonzero(message == number)
            self._one(made, valid, rows, said, number, self.last.setdefault(part, Last()), out)
        made = replace(made, valid=valid)
        return _without(made, out)

    def _parts(self, store: Store, batch: Batch) -> list[str]:
        if self._part is None:
            return [""] * len(batch.documents)
        texts = self._part.texts(store, batch.documents)
        return [texts.text(row) for row in range(len(batch.documents))]

    def _one(
        self,
        made: FragmentBatch,
        valid: Any,
        rows: Any,
        said: Times,
        number: int,
        last: Last,
        out: list[tuple[int, int, int]],
    ) -> None:
        """One delivery: what is missing goes when it was said; what comes back is true again."""
        alive = [row for row in rows.tolist() if made.op[row] != Op.REMOVE]
        units = {int(made.id[row]): int(made.tsid[row]) for row in alive}
        when = (
            int(said.value[number])
            if said.there[number]
            else int(valid[rows].max(initial=last.said))
        )
        if when < last.said:  # it came late: what the last one does not hold went then
            out += [
                (-tag - 1, code, last.said) for code, tag in units.items() if code not in last.units
            ]
            return
        out += [(-tag - 1, code, when) for code, tag in last.units.items() if code not in units]
        last.gone |= {code: when for code in last.units if code not in units}
        for row in alive:
            since = last.gone.pop(int(made.id[row]), None)
            if since is not None and valid[row] <= since:
                valid[row] = when
        last.said, last.units = when, units


def _without(made: FragmentBatch, gone: list[tuple[int, int, int]]) -> FragmentBatch:
    """The batch with removals; each is of a tag that it names."""
    if not gone:
        return made
    from xstreamcast.edges.mapping.removals import removals

    tags = np.array([-tag - 1 for tag, _, _ in gone], np.int32)
    codes = np.array([code for _, code, _ in gone], np.int32)
    return removals(made, tags, codes, np.array([when for _, _, when in gone], np.int64))
