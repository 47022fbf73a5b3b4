"""The answers of all units of joined documents, one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xstreamcast.operators.answer import Answer
from xstreamcast.operators.asking import Asking, listed, rows_of_strings
from xstreamcast.operators.found import Found

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Listed, Part
    from xstreamcast.model.change import Change
    from xstreamcast.operators.units import Moved


class Concatenation:
    """answer(units)  →  answer(unit 1), answer(unit 2), …"""

    def __init__(self, part: Part) -> None:
        self._part, self._shape = part, part.shape
        self._answer = Answer()

    def take(self, found: Found, instant: int) -> list[Change]:
        """What units hold now → what that changed in the answer."""
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
        column = listed(shape.expression, frame)
        return Found.of(moved, rows_of_strings(frame, column))

    def retracted(self, instant: int) -> list[Change]:
        """The changes that take all of it back."""
        return self._answer.retracted(instant)

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return self._answer.state_bytes

    def __len__(self) -> int:
        return len(self._answer)
