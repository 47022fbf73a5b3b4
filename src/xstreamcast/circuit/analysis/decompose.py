"""Aggregates over the tuples of a group, taken apart: what is kept of each tuple, and the fold.

group by k return f(e($all))  →  fold f over e($each), kept by group

It holds where the value of e over all tuples is that over each of them, one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import counts_positions, facts
from xstreamcast.algebra.analysis.item_kinds import predicate_class
from xstreamcast.algebra.walk import STREAMS, bottom_up, descendants, map_children
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.circuit.analysis.conditional import is_guard, may_fail
from xstreamcast.circuit.analysis.distinct_nodes import (
    Side,
    begins_at,
    constructed_variables,
    distinct_variables,
    gives_distinct,
    reads_copies,
    repeated_variables,
)
from xstreamcast.circuit.analysis.focus import unfocused
from xstreamcast.circuit.analysis.group_folds import (
    COUNTED,
    FOLDS,
    SUMMARISED,
    Decomposed,
    GroupFold,
    GroupMembers,
    is_fold,
)
from xstreamcast.circuit.analysis.over_group import (
    ONE,
    behind_lets,
    clauses_of,
    compared_in_group,
    distributes,
    from_rows,
    is_distinct,
    longer,
    nested_in_group,
    sliced,
    sorts,
    uncounted,
    window_length,
    without_unread,
)

Fresh = Callable[[str], p.Variable]

_OF_THEIR_VALUES: Final = frozenset({"sum", "avg", "min", "max"})  # f(f(x)) = f(x)


def decomposed(
    plan: p.Return,
    fresh: Fresh,
    members: Mapping[p.Variable, bool],
    batch: bool = False,
    careful: bool = False,
) -> tuple[p.Return, Mapping[int, Decomposed]]:
    """The FLWOR with variables in the place of aggregates; by the id of a clause, what they are.

    `members`: variables for the rows of a group, and whether each row holds other nodes.
    `batch`: rows do not change, so that what is chosen of a group is computed from all its rows.
    `careful`: a fold that may fail stays where it is read, if a condition or a branch is before it.
    """
    clauses = clauses_of(plan.source)
    if not any(isinstance(one, p.GroupBy | p.ForWindow) for one in clauses):
        return plan, {}
    source: p.Tuples = p.Unit()
    every: list[_Search] = []
    searches: list[_Search] = []  # those whose variables are seen
    for clause in clauses:
        changed: Any = clause
        for search in searches:
            search.careful = careful
            changed = search.clause(changed)
            search.guarded |= isinstance(clause, p.Where | p.TupleJoin)
        base = source if not isinstance(clause, p.TupleJoin | p.Unit) else None
        changed = changed if base is None else replace(changed, source=base)
        if isinstance(changed, p.GroupBy):
            searches = [_of_group(changed, fresh, members, batch)]
        elif isinstance(changed, p.ForWindow) and _reads_input(changed.items, members):
            searches = [*searches, _of_window(changed, fresh, members)]
        every += [one for one in searches if one not in every]
        source = changed
    result = plan.result
    for search in searches:
        search.careful = careful
        result = search.walk(result)
    made = {search.clause_id: search.found for search in every}
    return replace(plan, source=without_unread(source, facts(result).used), result=result), made


def _of_group(
    group: p.GroupBy, fresh: Fresh, members: Mapping[p.Variable, bool], batch: bool
) -> _Search:
    before = {after: before for before, after in group.carried}
    known = frozenset(variable for variable, apart in members.items() if apart)
    apart, repeated = distinct_variables(group.source, known), repeated_variables(group.source)
    found = _Search(id(group), before, apart, repeated, fresh, FOLDS, batch=batch)
    found.made = constructed_variables(group.source)
    return found


def _of_window(window: p.ForWindow, fresh: Fresh, members: Mapping[p.Variable, bool]) -> _Search:
    """Folds over the items of windows; items are the variable's tuples."""
    item = fresh("item")
    walks = isinstance(begins_at(window.items, narrow=False), p.StreamInput)
    walks |= isinstance(window.items, p.Var) and members.get(window.items.variable, False)
    apart = frozenset({item}) if walks or gives_distinct(window.items) else frozenset[p.Variable]()
    held = {window.variable: item}
    return _Search(id(window), held, apart, {}, fresh, SUMMARISED, window_length(window))


def _reads_input(plan: p.Expression, members: Mapping[p.Variable, bool]) -> bool:
    if facts(plan).used & members.keys():
        return True
    return any(isinstance(node, p.StreamInput) for node in descendants(plan))


def _taken_out(plan: Any) -> bool:
    """Whether an operator may evaluate it, and not the expression that it is part of."""
    return isinstance(plan, p.Call | p.Filter | p.Return)


class _Search:
    """One walk over what follows a group by or window clause."""

    def __init__(
        self, clause_id: int, before: Mapping[p.Variable, p.Variable],
        apart: frozenset[p.Variable], repeated: Mapping[p.Variable, Side], fresh: Fresh,
        folds: frozenset[str], length: tuple[p.Variable, p.Variable] | None = None,
        batch: bool = False,
    ) -> None:  # fmt: skip
        """`before`: by variable, that of one tuple; `length`: positions whose difference counts."""
        self.clause_id, self._fresh, self._folds, self._length = clause_id, fresh, folds, length
        self._before, self._apart, self._repeated = before, apart, repeated
        self._batch = batch
        self.made = frozenset[p.Variable]()  # each tuple holds an element that was made for it
        self.guarded = self.careful = self.hasty = False
        self._known: dict[p.Expression, p.Variable] = {}
        self._deferred: set[p.Variable] = set()  # of these
        self._lets: dict[p.Variable, p.Expression] = {}
        self.folds: list[GroupFold] = []
        self.members: list[GroupMembers] = []

    @property
    def found(self) -> Decomposed:
        """What is kept of the tuples."""
        item = None if self._folds is FOLDS else next(iter(self._before.values()))
        return Decomposed(tuple(self.folds), tuple(self.members), item, self.hasty)

    def clause(self, plan: p.Tuples) -> p.Tuples:
        """A clause with its own expressions changed."""
        known = self._before.keys() | self._lets.keys()
        if isinstance(plan, p.Let) and facts(plan.value).used & known:
            self._lets[plan.variable] = plan.value
        return map_children(
            plan, lambda child: child if isinstance(child, STREAMS) else self.walk(child)
        )

    def walk(self, plan: Any) -> Any:
        """An expression with variables in the place of aggregates."""
        if not facts(plan).used & (
            self._before.keys() | self._lets.keys() | set(self._length or ())
        ):
            return plan
        if self._length is not None:
            by_one = longer(plan, *self._length)
            if by_one is not None:
                counted = called("count", p.Var(next(iter(self._before))))
                made = self._fold(counted) or counted
                return made if by_one else p.Arithmetic("-", made, ONE, span=plan.span)
        if self.guarded and _taken_out(plan) and self._waits(plan):
            return plan
        if is_fold(plan) and self._keeps(plan):
            found = self._fold(plan)
            if found is not None:
                return found
        if self._folds is FOLDS and isinstance(plan, p.Filter | p.Call):
            chosen = self._chosen(plan) or self._filtered(plan)
            if chosen is not None:
                return chosen
        if self._folds is FOLDS and isinstance(plan, p.Return):
            looped = self._looped(plan) or self._compared(plan)
            if looped is not None:
                return looped
        if isinstance(plan, p.Return) and isinstance(split := behind_lets(plan), p.Return):
            return self._under_lets(split)
        if is_guard(plan):
            return self._guarded(plan)
        return map_children(plan, self.walk)

    def _guarded(self, plan: Any) -> Any:
        """An expression of which only the first operand is evaluated in any case; of try, none."""
        around, tested = self.guarded, isinstance(plan, p.Try)

        def one(child: Any) -> Any:
            nonlocal tested
            self.guarded, tested = around or tested, True
            return self.walk(child)

        made = map_children(plan, one)
        self.guarded = around
        return made

    def _waits(self, plan: Any) -> bool:
        """Whether an expression must be evaluated where it is read: it may fail, or not be read."""
        if (self.hasty and not self.careful) or self._is_deferred(plan):
            return False
        fails = not isinstance(plan, STREAMS) and may_fail(self._unlet(plan))
        self.hasty |= fails
        return fails and self.careful

    def _is_deferred(self, plan: Any) -> bool:
        """Whether a fold that fails hands its items on: where it is read, the function fails.

        Called again on its value, the function gives that value.
        """
        if self._batch or self._folds is not FOLDS or not is_fold(plan) or len(plan.args) > 1:
            return False
        known = plan.function.local in _OF_THEIR_VALUES
        return known and not may_fail(self._unlet(plan.args[0]))

    def _under_lets(self, plan: p.Return) -> p.Expression:
        """What reads variables that are bound before it, such as a function's parameters."""
        bound: list[Any] = [*clauses_of(plan.source)]
        made: list[Any] = [self.clause(replace(one, source=p.Unit())) for one in bound]
        result = self.walk(plan.result)
        used, source = facts(result).used, list[Any]()
        for one in reversed(made):
            if one.variable in used or not facts(one.value).pure:
                used |= facts(one.value).used
                source.insert(0, one)
        tuples: p.Tuples = p.Unit()
        for one in source:
            tuples = replace(one, source=tuples)
        return replace(plan, source=tuples, result=result) if source else result

    def _keeps(self, plan: p.Call) -> bool:
        """Whether there is an operator for a fold: over windows for those that can be summed up."""
        return self._folds is FOLDS or (plan.function.local in self._folds and len(plan.args) == 1)

    def _chosen(self, plan: p.Filter | p.Call) -> p.Expression | None:
        """Some positions of what is sorted within a group, over a variable for the group's rows."""
        whole = self._unlet(plan)
        source = sliced(whole)
        used = frozenset() if source is None else facts(source).free & self._before.keys()
        if source is None or len(used) != 1 or facts(source).free != used:
            return None
        (after,) = used
        if not sorts(source) and not self._takes_rows(source, after):
            return None
        variable = self._rows_of(after)
        rows = bottom_up(source, lambda node: p.Var(variable) if node == p.Var(after) else node)
        if isinstance(whole, p.Filter):
            predicate = bottom_up(whole.predicate, lambda node: uncounted(node, source))
            return replace(whole, input=rows, predicate=self.walk(predicate))
        assert isinstance(whole, p.Call)
        return replace(whole, args=(rows, *whole.args[1:]))

    def _takes_rows(self, source: p.Expression, after: p.Variable) -> bool:
        """Whether positions count nodes of an input that come row by row.

        Nodes that a query makes stay items of their group: snapshots hold them so.
        """
        apart = self._before[after] in self._apart
        return not self._batch and apart and distributes(source, after, apart)

    def _looped(self, plan: p.Return) -> p.Expression | None:
        """Groups or windows of what a group holds, over a variable for the group's rows."""
        first = nested_in_group(plan)
        if first is None or not isinstance(first.items, p.Var):
            return None
        after = first.items.variable
        if after not in self._before:
            return None
        if facts(from_rows(plan, first, replace(first, items=p.EMPTY))).free & self._before.keys():
            return None
        return from_rows(plan, first, replace(first, items=p.Var(self._rows_of(after))))

    def _filtered(self, plan: p.Filter | p.Call) -> p.Expression | None:
        """$all[a > $value]  →  for $x in $all where a($x) > $value return $x, over rows"""
        if not isinstance(plan, p.Filter) or plan.reverse:
            return None
        test = plan.predicate
        if predicate_class(test) != "truth" or counts_positions(test):
            return None
        item = self._fresh("item")
        made = unfocused(test, p.Var(item), p.EMPTY, None)
        if made is None:
            return None
        tuples: p.Tuples = p.ForEach(p.Unit(), item, plan.input, span=plan.span)
        for one in made.operands if isinstance(made, p.And) else (made,):
            tuples = p.Where(tuples, one, span=plan.span)
        return self._compared(p.Return(tuples, p.Var(item), span=plan.span))

    def _compared(self, plan: p.Return) -> p.Expression | None:
        """A loop over what a group holds, chosen by values of the group, over a variable for the
        group's rows.
        """
        found = None if self._batch else compared_in_group(plan)
        if found is None:
            return None
        loop, tests, orders = found
        used = facts(loop.items).free & self._before.keys()
        if len(used) != 1 or facts(loop.items).free != used:
            return None
        (after,) = used
        if not distributes(loop.items, after, self._before[after] in self._apart):
            return None
        made = [self.walk(test) for test in tests]
        sorting = [replace(one, source=p.Unit()) for one in orders]
        read = [*made, *sorting, plan.result]
        if any(facts(one).free & self._before.keys() for one in read):
            return None
        variable = self._rows_of(after)
        items = bottom_up(
            loop.items, lambda node: p.Var(variable) if node == p.Var(after) else node
        )
        tuples: p.Tuples = replace(loop, items=items)
        for test in made:
            tuples = p.Where(tuples, test, span=plan.span)
        for one in orders:
            tuples = replace(one, source=tuples)
        return replace(plan, source=tuples)

    def _rows_of(self, after: p.Variable) -> p.Variable:
        """A variable for the rows of a group."""
        variable, before = self._fresh("rows"), self._before[after]
        self.members.append(GroupMembers(variable, before, after, before in self._apart))
        return variable

    def _fold(self, plan: p.Call) -> p.Expression | None:
        whole = argument = self._unlet(plan.args[0])
        different = self._folds is FOLDS and plan.function.local in COUNTED
        different = different and is_distinct(whole)
        if different:
            (argument,) = whole.args
        used = facts(argument).free & self._before.keys()
        if plan in self._known:
            return self._read(plan)
        if len(used) != 1:
            return None
        (after,) = used
        before = self._before[after]
        once = None
        if not distributes(argument, after, before in self._apart | self.made):
            once = self._repeated.get(before)
            if once is None or not distributes(argument, after, True) or reads_copies(argument):
                return None
        if facts(argument).free != used:
            return None
        into = self._known[plan] = self._fresh(plan.function.local)
        value = bottom_up(argument, lambda node: p.Var(before) if node == p.Var(after) else node)
        call = replace(plan, args=(whole, *plan.args[1:]))
        deferred = self.guarded and self._is_deferred(plan)
        if deferred:
            self._deferred.add(into)
        self.folds.append(GroupFold(call, value, into, once, different, deferred))
        return self._read(plan)

    def _read(self, plan: p.Call) -> p.Expression:
        """A known fold where it is read."""
        into = self._known[plan]
        value = p.Var(into, span=plan.span)
        return replace(plan, args=(value,)) if into in self._deferred else value

    def _unlet(self, plan: Any) -> Any:
        """The expression with the values of lets in the place of their variables."""
        while facts(plan).used & self._lets.keys():
            plan = bottom_up(
                plan, lambda n: self._lets.get(n.variable, n) if isinstance(n, p.Var) else n
            )
        return plan
