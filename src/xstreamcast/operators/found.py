"""What units hold, as they were asked: what an operator takes in, wherever the asking was done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xstreamcast.operators.units import Moved


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A move of units, with a value for each key that was asked; the rest is as `Moved` has it."""

    keys: Sequence[str] = ()
    values: Sequence[Any] = ()
    gone: tuple[str, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    reordered: bool = False
    append: bool = False
    complete: bool = False

    @staticmethod
    def of(moved: Moved, values: Sequence[Any] = ()) -> Found:
        """The move with what its units hold."""
        keys = () if moved.asked is None else moved.asked.keys
        return Found(
            keys, values, moved.gone, moved.places, moved.reordered, moved.append, moved.complete
        )

    def __bool__(self) -> bool:
        return bool(self.keys) or bool(self.gone) or self.reordered or self.complete

    def pairs(self) -> Iterable[tuple[str, Any]]:
        """Each unit that was asked, and what it holds."""
        return zip(self.keys, self.values, strict=True)

    def leaving(self, known: Iterable[str]) -> list[str]:
        """Of the units known so far, those that are no longer there."""
        if not self.complete:
            return list(self.gone)
        return [key for key in known if key not in self.places]

    def order(self) -> list[str]:
        """All units in the order of the input."""
        return sorted(self.places, key=self.places.__getitem__)
