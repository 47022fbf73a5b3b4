"""Evaluates shapes over units: all dirty units in one evaluation, a row each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.context import Context, Inputs
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.results.results import lines
from xstreamcast.evaluate.time.moments import Moment, date_time
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.column import Column
from xstreamcast.model.instant import START
from xstreamcast.model.items import Items
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.history.query import HistoryQuery
    from xstreamcast.operators.units.units import Minis
    from xstreamcast.tape.names import Names

BEFORE: Final = Moment(START)  # nothing has come yet
Whole = Callable[[str, Store], Items]


def _no_input(name: str, store: Store) -> Items:
    return Items.of_nodes(np.empty(0, np.int64))


@dataclass(slots=True)
class EvaluationContext:
    """What every evaluation of a running query shares: its program, names, bindings and clock."""

    program: Program
    names: Names
    variables: Mapping[tuple[str, str], Items] = field(default_factory=dict)
    whole: Whole = _no_input  # what has arrived on an input, put into a store
    now: Moment = BEFORE
    reaching: Callable[[Store], HistoryQuery] | None = None  # where projections see planned states
    made: list[Context] = field(default_factory=list)

    def release(self) -> None:
        """Release all that was evaluated over: a context and its root frame hold each other, and
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

        query = None if self.reaching is None else self.reaching(store)
        # before anything arrives, as where nothing has a time, the clock is at its beginning
        now = Moment(0) if self.now == BEFORE else self.now
        return Context(
            self.program,
            Inputs(
                store,
                item=item,
                variables=self.variables,
                streams=whole if query is None else query.stream,
                reach=None if query is None else query.reach,
                current=date_time(now.instant, True, now),
                clock=now,
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
        return Frame(context, column.n, context.root, origin, values)


def rows_of_strings(frame: Frame, column: Column) -> list[list[str]]:
    """The items of each row, as others read them."""
    texts = list(lines(frame.context.store, column.items))
    bounds = column.bounds().tolist()
    return [texts[a:b] for a, b in itertools.pairwise(bounds)]


def listed(plan: p.Expression, frame: Frame) -> Column:
    """The value of an expression for every unit."""
    return deep(lambda: evaluate(plan, frame))
