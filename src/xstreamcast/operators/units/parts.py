"""Units written from a history: each version a root of its own, with all that hangs below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from xstreamcast.history.history import History
from xstreamcast.model.column import distinct, ranges
from xstreamcast.model.fragment import ENDS_ZONED, ZONED
from xstreamcast.model.instant import NOW, START

if TYPE_CHECKING:
    from xstreamcast.operators.units.history_part import FragmentPlaces
    from xstreamcast.operators.units.spine import Occurrence, UnitVersion
    from xstreamcast.tape.fragments.instance_kernels import Carried
    from xstreamcast.tape.layout import I32, I64

_UNCLIPPED: Final = (START, NOW, 0)


class Tops(NamedTuple):
    """Fragments that are written, and their lifespans."""

    place: list[int]
    begin: list[int]
    end: list[int]
    zones: list[int]
    clips: list[int]  # begin, end and zones of what is around each; empty: that ends nothing


def tops_of(found: Sequence[UnitVersion | Occurrence]) -> Tops:
    """Where units, or fragments around units, arrived, and when they hold."""
    return Tops(
        [one.place for one in found],
        [one.begin for one in found],
        [one.end for one in found],
        [one.zones for one in found],
        _clips(found),
    )


def _clips(found: Sequence[UnitVersion | Occurrence]) -> list[int]:
    """What has no lifespan of its own passes on that of what is around it."""
    slots = [one.slot for one in found if one.begin == START and one.slot is not None]
    if all(slot.around.clip == _UNCLIPPED for slot in slots):
        return []
    return [part for one in found for part in _clip(one)]


def _clip(one: UnitVersion | Occurrence) -> tuple[int, int, int]:
    return _UNCLIPPED if one.slot is None else one.slot.around.clip


class UnitPart(History):
    """Some fragments of a history below roots that are single versions."""

    given: I32
    owner: I32  # of each fragment: its id; what is attached to it names that
    around: I64  # begin, end and zones of what is around each root; may be empty

    def roots(self, until: int = 0) -> I32:
        return self.given

    def clips(self) -> I64:
        return self.around

    def carried(self) -> Carried:
        return super().carried()._replace(code=self.owner)


def unit_part(
    history: History, links: FragmentPlaces, roots: Tops, *, below: bool = True
) -> UnitPart:
    """Versions of ids, which are its roots in this order, and what hangs below them."""
    f, h, n = history.fragments, history.holes, len(roots.place)
    part = UnitPart(history.name, history.structure, store=history.store)
    tops = np.array(roots.place, np.int64)
    inner = links.inside(distinct(tops)) if below else np.zeros(0, np.int64)
    places = np.concatenate((tops, inner))
    first, counts = links.carried(places)
    carried = ranges(first, counts)
    within = f["within"][places]
    named = within >= 0
    met = np.concatenate([f["id"][places], h["id"][carried], within[named]])
    numbers = links.numbered(met)
    known = int(numbers.max()) + 1
    columns = {name: f[name][places] for name in f.names}
    own = numbers[: len(places)]
    codes = own.copy()
    codes[:n] = np.arange(known, known + n)
    zones = np.array(roots.zones, np.uint8)
    columns["valid"][:n], columns["to"][:n] = roots.begin, roots.end
    columns["flags"][:n] = (zones & 1) * np.uint8(ZONED) | (zones >> 1) * np.uint8(ENDS_ZONED)
    if history.attaches:
        columns["within"] = within.copy()
        columns["within"][named] = numbers[len(places) + len(carried) :]
        columns["within"][:n] = -1
        part.text_codes, part.ids = distinct(met), history.ids
        part.attaches = bool((columns["within"] >= 0).any())
    part.fragments.append(**(columns | {"id": codes, "holes": np.cumsum(counts)}))
    if len(carried):
        inside = numbers[len(places) : len(places) + len(carried)]
        part.holes.append(**({name: h[name][carried] for name in h.names} | {"id": inside}))
    part.given = codes[:n]
    part.owner = own
    part.around = np.array(roots.clips, np.int64)
    part.newest, part.latest = history.newest, history.latest
    return part
