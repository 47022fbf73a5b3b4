"""The words of a divided program: its parts, their shapes, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.around import Around
from xstreamcast.algebra.cut import Cut, DepthCut, Guard
from xstreamcast.algebra.inner import Inner
from xstreamcast.algebra.timing import Timing
from xstreamcast.errors import Span

Fold = Literal[
    "items", "count", "exists", "empty", "sum", "avg", "min", "max", "distinct-values"
]  # fmt: skip
FOLDS: Final = frozenset({"count", "exists", "empty", "sum", "avg", "min", "max"}) | {
    "distinct-values"
}


@dataclass(frozen=True, slots=True)
class Listed:
    """An expression asked for each unit: the items of all, one after another."""

    expression: p.Expression


@dataclass(frozen=True, slots=True)
class Sorted:
    """Tuples made for each unit, sorted over all, and the result of each."""

    tuples: p.Tuples
    keys: tuple[p.OrderKey, ...]
    result: p.Expression


@dataclass(frozen=True, slots=True)
class Grouped:
    """Tuples made for each unit, grouped over all, and the result of each group."""

    tuples: p.Tuples
    group: p.GroupBy
    result: p.Expression


Shape = Listed | Sorted | Grouped


@dataclass(frozen=True, slots=True)
class Part:
    """What is computed unit by unit.

    `variable` stands for its value in the rest, `document` for the unit's document inside. `others`
    are read whole; `guards` are names that must not occur around the units; `clock`: it asks what
    time it is.
    """

    variable: p.Variable
    document: p.Variable
    input: str | None
    shape: Shape
    fold: Fold = "items"
    others: frozenset[str] = frozenset()
    guards: frozenset[Guard] = frozenset()
    clock: bool = False
    timing: Timing | None = None  # when its units may change though nothing comes
    limit: int | None = None  # how many items decide what follows
    inner: tuple[Inner, ...] = ()  # what is kept of its units
    held: frozenset[Guard] = frozenset()  # names of children that must not come apart
    around: Around | None = None  # its nodes stand around units, and count by identity


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is not computed unit by unit."""

    sentence: str
    span: Span


@dataclass(frozen=True, slots=True)
class Division:
    """The parts, the rest over their variables, and why what is whole is so.

    `whole`: inputs that the rest reads itself, so that it needs all of them.
    """

    parts: tuple[Part, ...]
    rest: p.Expression
    whole: frozenset[str | None]
    reasons: tuple[Reason, ...]
    cuts: Mapping[str | None, Cut]
    clock: bool = False
    deeper: tuple[Division, ...] = ()

    def levels(self, name: str | None) -> list[tuple[int, tuple[Guard, ...]]]:
        """The levels at which a document may be cut, each with the names that it must watch."""
        found = []
        for one in self.deeper or (self,):
            cut = one.cuts[name]
            assert isinstance(cut, DepthCut)
            guards = {g for part in one.parts if part.input == name for g in part.guards}
            found.append((cut.depth - 1, tuple(sorted(guards, key=str))))
        return found

    def held(self, name: str | None) -> tuple[Guard, ...]:
        """Names of children that must stay together with those of the same parent."""
        divisions = (self, *self.deeper)
        found = {g for one in divisions for p in one.parts if p.input == name for g in p.held}
        return tuple(sorted(found, key=str))

    @property
    def plain(self) -> bool:
        """Whether the answer is one part, with nothing to follow."""
        return len(self.parts) == 1 and self.rest == p.Var(self.parts[0].variable)
