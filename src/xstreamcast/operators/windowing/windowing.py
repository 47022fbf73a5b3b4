"""A window clause over all units as an operator: one tells the answer, one has a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.algebra.windowed import Windowed
from xstreamcast.functions.atomize import atomize
from xstreamcast.model.atomic import BOOLEAN, INTEGER
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.operators.asking import rows_of_strings
from xstreamcast.operators.windowing.buffer import put_into, taken_out
from xstreamcast.operators.windowing.by_key import WindowsByKey
from xstreamcast.operators.windowing.folding import applied
from xstreamcast.operators.windowing.told import Told
from xstreamcast.operators.windowing.windows import Revision, Rows, T, Windows

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Part
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.change import Change
    from xstreamcast.operators.asking import Asking
    from xstreamcast.operators.units import Moved
    from xstreamcast.tape.layout import Tape
    from xstreamcast.tape.store import Store

Kept = tuple[Items, tuple["Tape", ...]]


def _windows(part: Part, rows: Rows[T], snapshot: Any = None) -> Windows[T] | WindowsByKey[T]:
    shape = part.shape
    assert isinstance(shape, Windowed)
    if shape.by is not None:
        return WindowsByKey(part, rows, snapshot)
    return Windows(part, rows, snapshot)


class Windowing:
    """answer  →  the result of each window, in the order of the clause"""

    def __init__(self, part: Part, snapshot: Any = None) -> None:
        windows, told = (None, None) if snapshot is None else snapshot
        self.windows = _windows(part, rows_of_strings, windows)
        self.told = Told(told)
        self._waiting: Revision[list[str]] = Revision()

    def on_tick(
        self, moves: Sequence[Moved], asking: Asking, decided: bool, ended: bool, instant: int
    ) -> list[Change]:
        """What the tick changed in the answer."""
        anew = self.windows.anew
        found = self.windows.on_tick(moves, asking, decided, ended)
        if found is None:
            return []
        if anew and any(moved.complete for moved in moves):
            found.gone |= set(self.told.groups()) - set(found.contents)
        self._waiting.merge(found)
        if not decided and not self.windows.anew:
            return []  # items may still change that were thought to be settled
        found, self._waiting = self._waiting, Revision()
        contents = {**dict.fromkeys(sorted(found.gone), ()), **found.contents}
        moved = {name: self.told.of(name) for name in found.ranks if name not in contents}
        changes = self.told.ranked({**contents, **moved}, found.ranks, instant)
        self.told.forget(found.final)
        for low, high in found.finals.items():
            self.told.forget_between(low, high)
        return changes

    def retracted(self, instant: int) -> list[Change]:
        """The changes that take all of it back, as far as it may change at all."""
        return self.told.retracted(instant)

    def snapshot(self) -> Any:
        """What brings it back."""
        return self.windows.snapshot(), self.told.snapshot()

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return self.windows.state_bytes + self.told.state_bytes

    def __len__(self) -> int:
        return len(self.told)


def _kept(frame: Frame, column: Column) -> list[Kept]:
    return [taken_out(column.row(i), frame.context.store) for i in range(column.n)]


class WindowValues:
    """The results of all windows, for what follows to be computed from them."""

    def __init__(self, part: Part) -> None:
        self._fold = part.fold
        self.windows = _windows(part, _kept)
        self._kept: dict[str, Kept] = {}
        self._ranks: dict[str, int] = {}
        self._counted = 0  # results that are final, where only their number is asked

    def on_tick(self, moves: Sequence[Moved], asking: Asking, decided: bool, ended: bool) -> bool:
        """Take the tick in → whether the value may have changed."""
        anew = self.windows.anew
        found = self.windows.on_tick(moves, asking, decided, ended)
        if found is None:
            return False
        if anew and any(moved.complete for moved in moves):
            found.gone |= set(self._kept) - set(found.contents)
        for name in (*found.gone, *found.contents):
            self._kept.pop(name, None)
        self._kept |= {name: one for name, one in found.contents.items() if len(one[0])}
        self._ranks |= found.ranks
        self._ranks = {name: self._ranks[name] for name in self._kept}
        if self._fold in ("count", "exists", "empty"):
            for low, high in ((0, found.final), *found.finals.items()):
                self._count_final(low, high)
        return True

    def _count_final(self, low: int, high: int) -> None:
        """Of results that no longer change, only the number is kept."""
        for name in [name for name in self._kept if low <= self._ranks[name] < high]:
            self._counted += len(self._kept.pop(name)[0])
            del self._ranks[name]

    def value(self, asking: Asking, store: Store) -> Items:
        """All results in order, or what the function makes of them."""
        ordered = sorted(self._kept, key=self._ranks.__getitem__)
        items = Items.concat([put_into(*self._kept[name], store) for name in ordered])
        match self._fold:
            case "items":
                return items
            case "count":
                return Items.of(INTEGER, [self._counted + len(items)])
            case "exists" | "empty":
                some = self._counted + len(items) > 0
                return Items.of(BOOLEAN, [some == (self._fold == "exists")])
            case name:
                column = atomize(store, Column(items, np.array([0, len(items)], np.int64)))
                return applied(name, column.items, asking.context(store).root)

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        tapes = {id(tape): tape for _, found in self._kept.values() for tape in found}
        held = sum(column.nbytes for tape in tapes.values() for column in tape.columns)
        return self.windows.state_bytes + held + 200 * len(self._kept)
