"""Shapes asked of units: all that are dirty in one evaluation, a row each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.context import Context, Inputs
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.group import group_by
from xstreamcast.evaluate.moments import Moment, date_time
from xstreamcast.evaluate.results import lines
from xstreamcast.evaluate.tuples import gathered
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.compare import hash_keys
from xstreamcast.model.column import Column
from xstreamcast.model.instant import START
from xstreamcast.model.items import Items
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Grouped, Sorted
    from xstreamcast.algebra.program import Program
    from xstreamcast.operators.units import Minis
    from xstreamcast.tape.names import Names

BEFORE: Final = Moment(START)  # nothing has come yet
Whole = Callable[[str, Store], Items]
Beside = Callable[[Frame, "Minis"], Frame]


def _no_input(name: str, store: Store) -> Items:
    return Items.of_nodes(np.empty(0, np.int64))


@dataclass(slots=True)
class Asking:
    """What every evaluation of a running query shares: its program, names, bindings and clock."""

    program: Program
    names: Names
    variables: Mapping[tuple[str, str], Items] = field(default_factory=dict)
    whole: Whole = _no_input  # what has arrived on an input, put into a store
    now: Moment = BEFORE
    beside: Beside | None = None  # what binds the units of other inputs that each unit meets
    made: list[Context] = field(default_factory=list)

    def release(self) -> None:
        """Let go of all that was evaluated over: a context and its root frame hold each other, and
        with them the units; waiting for the garbage collector would let many of them pile up.
        """
        for context in self.made:
            del context.root
        self.made.clear()

    def context(self, store: Store, item: Items | None = None) -> Context:
        """A new evaluation over a store."""
        context = self._context(store, item)
        self.made.append(context)
        return context

    def _context(self, store: Store, item: Items | None) -> Context:
        views: dict[str, Items] = {}  # two mentions of an input are one document

        def whole(name: str) -> Items:
            if name not in views:
                views[name] = self.whole(name, store)
            return views[name]

        return Context(
            self.program,
            Inputs(
                store,
                item=item,
                variables=self.variables,
                streams=whole,
                current=date_time(self.now.instant, True, self.now),
                clock=self.now,
            ),
        )

    def units(self, minis: Minis, document: p.Variable, together: bool = False) -> Frame:
        """A row for each unit, or one row with all of them in order."""
        store = Store(self.names)
        number = store.add(minis.tape)
        handles = (number << 32) | minis.documents
        context = self.context(store)
        column = Column(Items.of_nodes(handles))
        if together:
            column = Column(column.items, np.array([0, len(handles)], np.int64))
        origin = np.zeros(column.n, np.int64)
        values: dict[Key, Value] = {document.number: column}
        if minis.kept is not None:
            values |= minis.kept.bound(number, together)
        frame = Frame(context, column.n, context.root, origin, values)
        return frame if self.beside is None else self.beside(frame, minis)


def rows_of_strings(frame: Frame, column: Column) -> list[list[str]]:
    """The items of each row, as others read them."""
    texts = list(lines(frame.context.store, column.items))
    bounds = column.bounds().tolist()
    return [texts[a:b] for a, b in itertools.pairwise(bounds)]


def listed(plan: p.Expression, frame: Frame) -> Column:
    """The value of an expression for every unit."""
    return deep(lambda: evaluate(plan, frame))


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of a unit: its keys, each at most one atomic item, and its result."""

    keys: tuple[Items, ...]
    items: Sequence[str]


def sorted_tuples(shape: Sorted, frame: Frame) -> list[list[Tuple]]:
    """The tuples of each unit with what they are sorted by."""

    def ask() -> list[list[Tuple]]:
        tuples = gathered(shape.tuples, frame)
        out: list[list[Tuple]] = [[] for _ in range(frame.n)]
        if tuples.n == 0:
            return out
        keys = [_atoms(key.value, tuples) for key in shape.keys]
        results = rows_of_strings(tuples, evaluate(shape.result, tuples))
        for row, unit in enumerate(tuples.origin_in(frame).tolist()):
            out[unit].append(Tuple(tuple(key.row(row) for key in keys), results[row]))
        return out

    return deep(ask)


def group_names(shape: Grouped, frame: Frame) -> list[list[str]]:
    """For each unit, the names of the groups that its tuples belong to."""

    def ask() -> list[list[str]]:
        tuples = gathered(shape.tuples, frame)
        out: list[list[str]] = [[] for _ in range(frame.n)]
        if tuples.n == 0:
            return out
        names = named([_atoms(key.value, tuples) for key in shape.group.keys], tuples.n)
        for row, unit in enumerate(tuples.origin_in(frame).tolist()):
            out[unit].append(names[row])
        return out

    return deep(ask)


def group_results(shape: Grouped, frame: Frame) -> list[tuple[str, list[str]]]:
    """The name and result of each group over all units of the frame's one row, in their order."""

    def ask() -> list[tuple[str, list[str]]]:
        groups = group_by(shape.group, gathered(shape.tuples, frame), frame)
        if groups.n == 0:
            return []
        keys = [groups.variable(key.variable.number) for key in shape.group.keys]
        results = rows_of_strings(groups, evaluate(shape.result, groups))
        return list(zip(named(keys, groups.n), results, strict=True))

    return deep(ask)


def _atoms(plan: p.Expression, tuples: Frame) -> Column:
    column = atomize(tuples.context.store, evaluate(plan, tuples))
    _ = column.items.values  # read now: the store does not stay
    return column


def named(keys: Sequence[Column], n: int) -> list[str]:
    """A name for each row, the same where all keys are of one group.

    Numbers are named by their value as a double, so that two groups may share a name.
    """
    parts: list[list[str]] = []
    for column in keys:
        texts = np.full(n, "()", object)
        hashed = hash_keys(column.items, inexact=True).tolist()
        texts[column.lengths() > 0] = np.array([*map(repr, hashed), None], object)[:-1]
        parts.append(texts.tolist())
    return ["|".join(row) for row in zip(*parts, strict=True)]
