"""Feeds that send all there is each time: what is missing in a delivery is gone.

delivery 1: a b   delivery 2: a c   →   b removed at the time of delivery 2
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.edges.mapping.asking import XPath
from xstreamcast.edges.mapping.units import accepted
from xstreamcast.model.fragment import Op
from xstreamcast.model.instant import START

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xstreamcast.edges.mapping.form import Mapping, UnitRule
    from xstreamcast.edges.mapping.messages import Messages
    from xstreamcast.edges.mapping.units import Found, Times
    from xstreamcast.model.fragment import FragmentBatch
    from xstreamcast.tape.store import Store


Group = tuple[str, Any, int | None]  # of which part, rows of units, when it was said


@dataclass(slots=True)
class LastDelivery:
    """The last delivery of a part of a feed: when it was said, and of which units."""

    said: int = START
    units: dict[int, int] = field(default_factory=dict)  # id → its tag
    gone: dict[int, int] = field(default_factory=dict)  # id → when it was last removed


class Deliveries:
    """The last delivery of each part of a feed (of all of it, if it has no parts)."""

    def __init__(self, mapping: Mapping, rule: UnitRule) -> None:
        self.last: dict[str, LastDelivery] = {}
        self._nested = rule.within is not None and rule.whole is True
        self._part: XPath | None = None
        if isinstance(rule.whole, str):
            self._part = XPath(mapping, f"unit.{rule.name}.whole", rule.whole)

    def taken(
        self,
        made: FragmentBatch,
        kind: Found,
        above: Found | None,
        batch: Messages,
        said: Times,
        store: Store,
    ) -> FragmentBatch:
        """The fragments of a batch, with removals of what deliveries no longer hold."""
        fits = accepted(kind)
        if above is not None and self._nested:
            groups = _by_parent(kind.parent[fits], above)
        else:
            groups = _by_message(kind.message[fits], self._parts(store, batch), said)
        out: list[tuple[int, int, int]] = []  # row that says it, id, when
        valid = made.valid.copy()
        for part, rows, when in groups:
            self._one(made, valid, rows, when, self.last.setdefault(part, LastDelivery()), out)
        made = replace(made, valid=valid)
        return _without(made, out)

    def _parts(self, store: Store, batch: Messages) -> list[str | None]:
        """The part that each message delivers; None: it is no delivery of all there is."""
        if self._part is None:
            return [""] * len(batch.documents)
        texts = self._part.texts(store, batch.documents)
        given = texts.counts.tolist()
        return [texts.text(row) if count else None for row, count in enumerate(given)]

    def _one(
        self,
        made: FragmentBatch,
        valid: Any,
        rows: Any,
        said: int | None,
        last: LastDelivery,
        out: list[tuple[int, int, int]],
    ) -> None:
        """One delivery: what is missing goes when it was said; what comes back is true again."""
        alive = [row for row in rows.tolist() if made.op[row] != Op.REMOVE]
        units = {int(made.id[row]): int(made.tsid[row]) for row in alive}
        when = int(valid[rows].max(initial=last.said)) if said is None else said
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


def _by_message(message: Any, parts: list[str | None], said: Times) -> Iterator[Group]:
    """A message is a delivery, of a part of the feed or of all of it."""
    for number, part in enumerate(parts):
        if part is None:
            continue
        when = int(said.value[number]) if said.there[number] else None
        yield part, np.flatnonzero(message == number), when


def _by_parent(parent: Any, above: Found) -> Iterator[Group]:
    """A unit that lists all units nested in it is a delivery of these."""
    rows = np.argsort(parent, kind="stable")
    ends = np.searchsorted(parent[rows], np.arange(len(above.row) + 1))
    for number in np.flatnonzero(accepted(above) & ~above.remove).tolist():
        when = int(above.begins.value[number]) if above.begins.there[number] else None
        yield above.id.text(number), rows[ends[number] : ends[number + 1]], when


def _without(made: FragmentBatch, gone: list[tuple[int, int, int]]) -> FragmentBatch:
    """The batch with removals; each is of a tag that it names."""
    if not gone:
        return made
    from xstreamcast.edges.mapping.removals import removals

    tags = np.array([-tag - 1 for tag, _, _ in gone], np.int32)
    codes = np.array([code for _, code, _ in gone], np.int32)
    return removals(made, tags, codes, np.array([when for _, _, when in gone], np.int64))
