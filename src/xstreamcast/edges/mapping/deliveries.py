"""Feeds that send all there is each time: what is missing in a delivery is gone.

delivery 1: a b   delivery 2: a c   →   b removed at the time of delivery 2
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.edges.mapping.asking import XPath
from xstreamcast.edges.mapping.attendance import TIMELESS, PartDeliveries, Removal
from xstreamcast.edges.mapping.removals import LAST, removals
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


class Deliveries:
    """The last delivery of each part of a feed (of all of it, if it has no parts)."""

    def __init__(self, mapping: Mapping, rule: UnitRule) -> None:
        self.last: dict[str, PartDeliveries] = {}
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
        lateness: int | None,
    ) -> FragmentBatch:
        """The fragments of a batch, with removals of what deliveries no longer hold; nothing that
        is older than the last by more than a lateness counts."""
        fits = accepted(kind)
        if above is not None and self._nested:
            groups = _by_parent(kind.parent[fits], above)
        else:
            groups = _by_message(kind.message[fits], self._parts(store, batch), said)
        out: list[tuple[Removal, int]] = []  # and the tag of its unit
        timeless = kind.timeless[np.flatnonzero(fits)]
        for part, rows, when in groups:
            known = self.last.setdefault(part, PartDeliveries())
            out += _delivered(made, timeless, rows, when, known)
            if known.restored:
                made = _restored(made, rows, known.restored)
                out = [
                    one for one in out
                    if not (one[0].of_content and (one[0].code, one[0].valid) in known.restored)
                ]  # fmt: skip
                known.restored.clear()
            if lateness is not None:
                known.forget(known.times[-1] - lateness)
        return _without(made, out)

    def _parts(self, store: Store, batch: Messages) -> list[str | None]:
        """The part that each message delivers; None: it is no delivery of all there is."""
        if self._part is None:
            return [""] * len(batch.documents)
        texts = self._part.texts(store, batch.documents)
        given = texts.counts.tolist()
        return [texts.text(row) if count else None for row, count in enumerate(given)]


def _delivered(
    made: FragmentBatch, timeless: Any, rows: Any, said: int | None, known: PartDeliveries
) -> Iterator[tuple[Removal, int]]:
    """One delivery: what is missing goes when it was said; what comes back is true again."""
    alive = [row for row in rows.tolist() if made.op[row] != Op.REMOVE]
    units = {int(made.id[row]): row for row in alive}
    last = known.times[-1] if known.times else START
    when = int(made.valid[rows].max(initial=last)) if said is None else said
    is_last = known.enter(when)
    known.tags |= {code: int(made.tsid[row]) for code, row in units.items()}
    held = known.units if is_last else known.held(when)
    for code in [one for one in held if one not in units]:
        for removal in known.absent(code, when):
            yield removal, known.tags[code]
    for code, row in units.items():
        own = TIMELESS if timeless[row] else int(made.valid[row])
        for removal in known.present(code, when, own):
            yield removal, known.tags[code]
    if is_last:
        known.units = set(units)


def _restored(made: FragmentBatch, rows: Any, held: set[tuple[int, int]]) -> FragmentBatch:
    """The batch, in which contents that hold after all count, although they were taken back."""
    version = np.zeros(len(made), np.int64) if made.version is None else made.version.copy()
    at = [row for row in rows.tolist() if (int(made.id[row]), int(made.valid[row])) in held]
    version[at] = LAST
    return replace(made, version=version)


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


def _without(made: FragmentBatch, gone: list[tuple[Removal, int]]) -> FragmentBatch:
    """The batch with removals of units, each with its tag."""
    if not gone:
        return made
    code, valid, to, of_content = np.array([removal for removal, _ in gone], np.int64).T
    tags = np.array([tag for _, tag in gone], np.int32)
    version = np.where(of_content, LAST, 0)
    return removals(made, tags, code.astype(np.int32), valid, to, version=version)
