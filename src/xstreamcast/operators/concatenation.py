"""The answers of all units, one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.algebra.monotone import monotone
from xstreamcast.evaluate.deep import deep
from xstreamcast.operators.answer import Answer, Appended
from xstreamcast.operators.asking import Asking, listed, rows_of_strings
from xstreamcast.operators.found import Found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xstreamcast.algebra.division import Listed, Part
    from xstreamcast.model.change import Change
    from xstreamcast.model.column import Column
    from xstreamcast.operators.missing import Missing
    from xstreamcast.operators.units import Minis, Moved


class Concatenation:
    """answer(units)  →  answer(unit 1), answer(unit 2), …"""

    def __init__(self, part: Part, snapshot: Any = None) -> None:
        self._part, self._shape = part, part.shape
        kind, held = ("answer", None) if snapshot is None else snapshot
        self._answer: Answer | Appended = Answer(held) if kind == "answer" else Appended(held)

    def on_batch(self, moved: Moved, asking: Asking, instant: int) -> list[Change]:
        """What the batch changed in the answer."""
        return self.take(self.ask(moved, asking), instant)

    def take(self, found: Found, instant: int) -> list[Change]:
        """What units hold now → what that changed in the answer."""
        if found.append:
            if isinstance(self._answer, Answer):
                self._answer = Appended()
            return self._answer.add([item for one in found.values for item in one], instant)
        assert isinstance(self._answer, Answer)
        contents: dict[str, Any] = dict(found.pairs())
        known = self._answer.groups() if found.complete else ()
        contents |= dict.fromkeys(found.leaving(known), ())
        if not found.reordered:
            return self._answer.revise(contents, instant, found.places)
        return self._answer.revise(contents, instant, found.places, found.order())

    def ask(self, moved: Moved, asking: Asking) -> Found:
        """The items of the units that were asked."""
        if moved.asked is None:
            return Found.of(moved)
        shape: Listed = self._shape  # type: ignore[assignment]
        frame = asking.units(moved.asked, self._part.document)
        kept = moved.asked.kept
        if kept is not None and kept.judged is not None:
            verdicts, places = kept.judged
            column = deep(lambda: verdicts.listed(frame, places, kept.roots))
        else:
            column = listed(shape.expression, frame)
        if moved.asked.missing is not None:
            column = self._decided(column, moved.asked, moved.asked.missing)
        return Found.of(moved, rows_of_strings(frame, column))

    def _decided(self, column: Column, minis: Minis, missing: Missing) -> Column:
        """The items that no missing fragment can change."""
        shape: Listed = self._shape  # type: ignore[assignment]
        certain = ~missing.units[column.rows()]
        if certain.all():
            return column
        if monotone(shape.expression, missing.hollow):
            # the minis are the first tape of their store
            certain |= np.array(missing.decided(minis.tape, 0, column.items), np.bool_)
        return column.keep(certain)

    def take_over(self, before: Concatenation) -> bool:
        """Go on with the answer of another one; what it emitted stays where it does not differ."""
        if isinstance(before._answer, Answer):
            self._answer = before._answer
            return True
        return False

    def settle(self, keys: Sequence[str], first: int) -> None:
        """These units will not change; nor will there be others before the first place."""
        if isinstance(self._answer, Answer):
            self._answer.settle(keys, first)

    def retracted(self, instant: int) -> list[Change]:
        """The changes that take all of it back."""
        return self._answer.retracted(instant) if isinstance(self._answer, Answer) else []

    def snapshot(self) -> Any:
        """What brings it back."""
        kind = "answer" if isinstance(self._answer, Answer) else "appended"
        return kind, self._answer.snapshot()

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return self._answer.state_bytes

    def __len__(self) -> int:
        return len(self._answer)
