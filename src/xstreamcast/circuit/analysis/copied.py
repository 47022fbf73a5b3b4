"""Whether a projection that `let` binds may be evaluated in each place where it is read.

Each evaluation makes other nodes. That can be seen only where nodes of two evaluations meet: where
they are compared, sorted into document order or taken once. So the walk counts, for each
expression, how many evaluations the nodes of its value may come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import bound_by, facts
from xstreamcast.algebra.analysis.item_kinds import static_type
from xstreamcast.algebra.nodes.static_type import ATOMIC
from xstreamcast.algebra.walk import EXPRESSIONS, STREAMS, bottom_up, children
from xstreamcast.functions.signature import FN

# functions that show which node one is, or read what is around it
_SHOW_IDENTITY: Final = frozenset(
    {"generate-id", "root", "path", "innermost", "outermost", "id", "idref", "element-with-id"}
)


class _Origin(NamedTuple):
    """How many evaluations nodes may come from, and within how many loops these were."""

    evaluations: int = 0
    depth: int = 0


_NONE: Final = _Origin()


class _Seen(Exception):
    """Nodes of several evaluations meet."""


def is_projection(value: p.Expression) -> bool:
    """Whether all nodes that a value makes are copies of others."""

    def bare(node: Any) -> Any:
        copies = isinstance(node, p.IntervalProjection | p.VersionProjection)
        return node.operand if copies else node

    return not facts(bottom_up(value, bare)).makes_nodes


def may_be_copied(variable: p.Variable, clauses: Sequence[Any], last: p.Expression) -> bool:
    """Whether no answer depends on whether `variable` is bound once or evaluated where it is read,
    in the clauses behind its own and in what is returned.
    """
    walk = _Walk(variable)
    try:
        for clause in clauses:
            walk.clause(clause)
        walk.origin(last)
    except _Seen:
        return False
    return True


def is_read_once(variable: p.Variable, clauses: Sequence[Any], last: p.Expression) -> bool:
    """Whether a variable is read in one place, which is evaluated once for each of its values."""
    parts = [*(clause.items for clause in clauses if _loops(clause)), last]
    first = next((at for at, clause in enumerate(clauses) if _loops(clause)), len(clauses))
    if not all(isinstance(clause, p.Let | p.Where) for clause in clauses[:first]):
        return False
    place = parts[0]
    reads = [one for one in (*clauses, last) if variable in _own(one)]
    at = clauses[first] if first < len(clauses) else last
    return len(reads) == 1 and reads[0] is at and _begins_with(place, variable)


def _loops(clause: Any) -> bool:
    return isinstance(clause, p.ForEach | p.ForWindow)


def _own(one: Any) -> frozenset[p.Variable]:
    """The variables that a clause itself, or what is returned, reads."""
    if not isinstance(one, STREAMS):
        return facts(one).used
    side = "left" if isinstance(one, p.TupleJoin) else "source"
    clause: Any = one
    own: Any = replace(clause, **{side: p.Unit()})
    return facts(own).used


def _begins_with(plan: Any, variable: p.Variable) -> bool:
    """Whether an expression reads a variable where it begins, and nowhere else."""
    if isinstance(plan, p.Var):
        return plan.variable == variable
    if not isinstance(plan, p.Filter | p.Step | p.Path | p.SimpleMap | p.Call):
        return False
    parts: list[Any] = [*children(plan)] or [p.EMPTY]
    first, *others = parts
    return _begins_with(first, variable) and not any(variable in facts(o).used for o in others)


class _Walk:
    def __init__(self, variable: p.Variable) -> None:
        self._variable = variable
        self._known: dict[p.Variable, _Origin] = {}
        self._lets = {variable}  # evaluated where they are read
        self._depth = 0  # loops around
        self._around = 0  # those around the clauses

    def origin(self, plan: Any) -> _Origin:
        """Where the nodes of a value come from; _Seen if those of several meet."""
        if isinstance(plan, p.Var):
            return self._of_variable(plan.variable)
        if isinstance(plan, p.Return | p.Quantified):
            return self._of_tuples(plan)
        parts = [self.origin(child) for child in children(plan)]
        match plan:
            case p.Filter():
                return parts[0]
            case p.Step():
                return _one(parts[0])
            case p.Path():
                return _one(_together(parts[:1] + [self._within(one) for one in parts[1:]]))
            case p.SimpleMap():
                return _together(parts[:1] + [self._within(one) for one in parts[1:]])
            case p.SetOperation() | p.NodeCompare():
                return _one(_together(parts))
            case p.Call(function) if function.uri == FN and function.local in _SHOW_IDENTITY:
                return _none(parts)
            case p.UserCall() | p.DynamicCall() | p.Partial() | p.Inline() | p.Block():
                return _none(parts)
            case p.MakeElement() | p.MakeDocument() | p.MakeAttribute() | p.MakeText():
                return _NONE
            case _ if isinstance(plan, EXPRESSIONS) and _is_atomic(plan):
                return _NONE
            case _:
                return _together(parts)

    def clause(self, clause: Any) -> None:
        """Add one clause; the ones before it have been added."""
        match clause:
            case p.TupleJoin(_, right):
                for one in _clauses(right):
                    self.clause(one)
                self._read(clause, (clause.left, right))
            case p.ForEach(source, variable, items):
                self._known[variable] = self.origin(items)
                self._depth += 1
            case p.ForWindow(source, _, items):
                found = self.origin(items)
                self._known |= dict.fromkeys(bound_by(clause), found)
                self._depth += 1
                self._read(clause, (source, items))
            case p.Let(_, variable, value):
                self._known[variable] = self.origin(value)
                self._lets.add(variable)
            case p.GroupBy(source, _, carried):
                self._read(clause, (source,))
                for before, after in carried:
                    self._known[after] = self._merged(self._of_variable(before), self._around)
            case _:
                self._read(clause, (clause.source,))

    def _read(self, clause: Any, but: tuple[Any, ...]) -> None:
        """Look at what a clause evaluates, but for some of it."""
        for child in children(clause):
            if not any(child is one for one in but):
                self.origin(child)

    def _of_variable(self, variable: p.Variable) -> _Origin:
        if variable == self._variable:
            return _Origin(1, self._depth)
        found = self._known.get(variable, _NONE)
        return _Origin(found.evaluations, self._depth) if variable in self._lets else found

    def _of_tuples(self, plan: p.Return | p.Quantified) -> _Origin:
        depth, around, self._around = self._depth, self._around, self._depth
        for clause in _clauses(plan.source):
            self.clause(clause)
        found = self.origin(plan.result if isinstance(plan, p.Return) else plan.test)
        self._depth, self._around = depth, around
        return self._merged(found, depth) if isinstance(plan, p.Return) else _NONE

    def _merged(self, found: _Origin, depth: int) -> _Origin:
        """What comes from more loops than `depth`, when their iterations have come together."""
        if found.evaluations and found.depth > depth:
            return _Origin(2, depth)
        return found

    def _within(self, found: _Origin) -> _Origin:
        """What is evaluated for each item."""
        return _Origin(2, found.depth) if found.evaluations else found


def _is_atomic(plan: Any) -> bool:
    return static_type(plan).only(ATOMIC)


def _clauses(plan: p.Tuples) -> list[Any]:
    """The clauses of a FLWOR as they are written; a join is where its right side is."""
    found: list[Any] = []
    while not isinstance(plan, p.Unit):
        found.append(plan)
        plan = plan.left if isinstance(plan, p.TupleJoin) else plan.source
    return found[::-1]


def _together(parts: Sequence[_Origin]) -> _Origin:
    return _Origin(
        sum(one.evaluations for one in parts), max((one.depth for one in parts), default=0)
    )


def _one(found: _Origin) -> _Origin:
    if found.evaluations > 1:
        raise _Seen
    return found


def _none(parts: Sequence[_Origin]) -> _Origin:
    if any(one.evaluations for one in parts):
        raise _Seen
    return _NONE
