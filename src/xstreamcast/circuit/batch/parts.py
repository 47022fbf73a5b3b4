"""The parts of a history query that tasks evaluate, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.cut import Guard
from xstreamcast.algebra.program import Program
from xstreamcast.circuit.batch.groups import Groups
from xstreamcast.circuit.batch.rows import joined
from xstreamcast.circuit.lifting.around import NodesAround

PartFold = Literal[
    "items", "rows", "count", "exists", "empty", "sum", "avg", "min", "max", "distinct-values"
]


@dataclass(frozen=True, slots=True)
class BatchPart:
    """Rows that tasks make of units, what each gives, and the fold over those of all tasks.

    `variable` represents its value in the rest. `order`: rows are sorted over all tasks; of these,
    the fold `rows` takes the positions `first` to `last`, negative ones from the end.
    """

    variable: p.Variable
    tuples: p.Tuples
    value: p.Expression
    fold: PartFold = "items"
    around: NodesAround | None = None
    order: tuple[p.OrderKey, ...] = ()
    first: int = 1
    last: int | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether it is a few rows in the order of the input: those at some positions."""
        return self.fold == "rows" and not self.order and (self.last is not None or self.first < 0)

    @property
    def expression(self) -> p.Expression:
        """What a task evaluates."""
        tuples = p.OrderBy(self.tuples, self.order) if self.order else self.tuples
        if self.order or self.fold == "rows":
            return p.Return(tuples, self.value)
        value = joined(tuples, self.value)
        return value if self.around is None else self.around.counting(self.fold, value)


@dataclass(frozen=True, slots=True)
class Distributed:
    """The parts of a query over the units of one input, a program for each, and what follows.

    `name` is what the programs call the input; `whole` are inputs that every task reads whole.
    """

    input: str | None
    name: str
    parts: tuple[BatchPart, ...]
    programs: tuple[Program, ...]
    rest: p.Expression
    whole: frozenset[str] = frozenset()
    levels: tuple[tuple[int, tuple[Guard, ...]], ...] = ()  # at which a document may be cut
    held: tuple[Guard, ...] = ()  # names of children that stay together with their siblings
    groups: Groups | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the answer is the items of one part."""
        (first, *others) = self.parts
        return not others and first.fold == "items" and self.rest == p.Var(first.variable)

    @property
    def is_sorted(self) -> bool:
        """Whether what tasks find is the answer, in an order of its own."""
        return self.is_plain and (self.groups is not None or bool(self.parts[0].order))

    @property
    def is_listed(self) -> bool:
        """Whether what tasks find is the answer, one after another."""
        return self.is_plain and not self.is_sorted


@dataclass(frozen=True, slots=True)
class OneTask:
    """The query is evaluated by one task, and why."""

    reasons: tuple[str, ...]
