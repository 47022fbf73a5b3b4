"""group by over the tuples of all units."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from xstreamcast.operators.answer import Answer
from xstreamcast.operators.asking import Asking, group_names, group_results

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Grouped, Part
    from xstreamcast.model.change import Change
    from xstreamcast.operators.units import Moved


class Grouping:
    """Which unit has tuples in which groups; groups that a dirty unit touches are made again.

    A group is made again from all units that have a tuple in it, by the clause itself.
    """

    def __init__(self, part: Part, snapshot: Any = None) -> None:
        self._part = part
        self._shape: Grouped = part.shape  # type: ignore[assignment]
        self._names: dict[str, list[str]] = {}  # of each unit, a name for each tuple
        self._units: dict[str, set[str]] = {}  # of each group
        self._first: dict[str, tuple[int, int]] = {}  # where each group first appears
        self._shared = False  # two groups have one name: all are made again each time
        self._answer = Answer()
        if snapshot is not None:
            self._names, self._first, self._shared, told = snapshot
            self._answer = Answer(told)
            for unit, names in self._names.items():
                self._enter(unit, names)

    def on_batch(self, moved: Moved, asking: Asking, instant: int) -> list[Change]:
        """What the batch changed in the answer."""
        touched = {name for unit in moved.leaving(self._names) for name in self._leave(unit)}
        if moved.asked is not None:
            frame = asking.units(moved.asked, self._part.document)
            for unit, names in zip(moved.asked.keys, group_names(self._shape, frame), strict=True):
                touched |= self._leave(unit)
                touched |= self._enter(unit, names)
        if self._shared:
            touched |= set(self._units)
        made = self._made(touched, moved, asking)
        self._place(self._units if moved.reordered else touched, moved)
        contents: dict[str, Any] = dict.fromkeys(touched, ())
        for name, items in made:
            contents[name] = items
        order = self._order([name for name, _ in made])
        if self._shared:
            contents |= {key: () for key in self._answer.groups() if key not in contents}
        return self._answer.revise(contents, instant, order=order)

    def _leave(self, unit: str) -> set[str]:
        names = set(self._names.pop(unit, ()))
        for name in names:
            self._units[name].discard(unit)
            if not self._units[name]:
                del self._units[name]
        return names

    def _enter(self, unit: str, names: list[str]) -> set[str]:
        if names:
            self._names[unit] = names
        for name in names:
            self._units.setdefault(name, set()).add(unit)
        return set(names)

    def _made(self, touched: set[str], moved: Moved, asking: Asking) -> list[tuple[str, list[str]]]:
        """The results of the groups, made from all units that they touch."""
        units = {unit for name in touched for unit in self._units.get(name, ())}
        if not units:
            return []
        assert moved.again is not None
        minis = moved.again(sorted(units, key=moved.places.__getitem__))
        frame = asking.units(minis, self._part.document, together=True)
        found = [one for one in group_results(self._shape, frame) if one[0] in touched]
        if len({name for name, _ in found}) == len(found):
            return found
        if not self._shared:
            self._shared = True
            touched |= set(self._units)
            return self._made(touched, moved, asking)
        return _numbered(found)

    def _place(self, names: Iterable[str], moved: Moved) -> None:
        for name in names:
            units = self._units.get(name)
            if units is None:
                self._first.pop(name, None)
                continue
            unit = min(units, key=moved.places.__getitem__)
            self._first[name] = moved.places[unit], self._names[unit].index(name)

    def _order(self, made: list[str]) -> list[str]:
        return made if self._shared else sorted(self._first, key=self._first.__getitem__)

    def retracted(self, instant: int) -> list[Change]:
        """The changes that take all of it back."""
        return self._answer.retracted(instant)

    def snapshot(self) -> Any:
        """What brings it back."""
        return self._names, self._first, self._shared, self._answer.snapshot()

    @property
    def state_bytes(self) -> int:
        """About what it keeps, the units aside."""
        held = sum(150 + 80 * len(names) for names in self._names.values())
        return held + self._answer.state_bytes

    def __len__(self) -> int:
        return len(self._answer)


def _numbered(found: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Groups of one name told apart by a number."""
    turns: dict[str, int] = {}
    out = []
    for name, items in found:
        turn = turns[name] = turns.get(name, -1) + 1
        out.append((f"{name}#{turn}" if turn else name, items))
    return out
