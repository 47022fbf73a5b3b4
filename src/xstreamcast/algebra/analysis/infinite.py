"""Sequences without an end: which functions wait for it in vain, where, and what to do instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.nodes.static_type import of_sequence_type
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.walk import STREAMS, children
from xstreamcast.errors import Span, error
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import INTEGER
from xstreamcast.model.frozen import dataclass

_WINDOWS: Final = "cut it into windows first (for tumbling window $w in … start … end …)"
_REVISED: Final = "or watch it with --policy optimistic: the answer is then revised as items arrive"
_SIZED: Final = frozenset({"last", "function-lookup"})  # functions that read the size of a context
_FINITE_PART: Final = frozenset({(FN, "subsequence", 3), (FN, "head", 1)})

Endless = str | None  # the input that may have no end, as the query writes it


@dataclass(frozen=True, slots=True)
class Blocked:
    """Something that needs the end of a sequence that may have none."""

    what: str
    endless: str
    span: Span

    @property
    def sentence(self) -> str:
        """What is wrong, in one sentence."""
        return f"{self.what} needs the end of {self.endless}, which may have none"

    @property
    def hint(self) -> str:
        """What to do instead."""
        return f"{_WINDOWS}, {_REVISED}"


def blocked(program: Program, *, streams: bool = False) -> tuple[Blocked, ...]:
    """Every place that needs the end of an infinite sequence.

    Variables declared with ** are infinite, and so are stream("…") inputs where `streams` says that
    they continue to arrive.
    """
    flow = _Flow(program, streams)
    for declared in program.variables:
        if declared.infinite:
            flow.variables[declared.variable] = f"${declared.variable.name}"
        elif declared.value is not None:
            flow.variables[declared.variable] = flow.value(declared.value)
    flow.value(program.body)
    return tuple(sorted(set(flow.found), key=lambda one: (one.span, one.what)))


def refuse_blocked(program: Program, *, streams: bool = False) -> None:
    """XSCS0002 for the first of them: where the answer must be final."""
    for one in blocked(program, streams=streams):
        at = program.source.place(one.span)
        raise error("XSCS0002", one.sentence, at=at, hint=one.hint, static=True)


@dataclass(slots=True)
class _Flow:
    """The walk: which variables are infinite here, and what was found."""

    program: Program
    streams: bool
    variables: dict[p.Variable, Endless] = field(default_factory=dict)
    found: list[Blocked] = field(default_factory=list)
    open_calls: set[tuple[int, tuple[Endless, ...]]] = field(default_factory=set)

    def value(self, plan: p.Expression) -> Endless:
        """The input that makes the value infinite, None if it ends."""
        match plan:
            case p.Var(variable):
                return self.variables.get(variable)
            case p.StreamInput(name):
                return f'stream("{name}")' if self.streams else None
            case p.Step(source) | p.Treat(source) | p.Convert(source):
                return self.value(source)
            case p.Path(left, right) | p.SimpleMap(left, right):
                return self._for_each(left, right)
            case p.Filter(source, predicate):
                return self._filter(source, predicate)
            case p.Return(source, result):
                return self._first([self.tuples(source), self.value(result)])
            case p.Quantified(kind, source, test):
                endless = self.tuples(source)
                if not (self.streams and kind == "some"):  # a witness decides
                    self._blocks(kind, endless, plan.span)
                self.value(test)
                return None
            case p.Call():
                return self._call(plan)
            case p.UserCall():
                return self._user_call(plan)
            case _:
                return self._operator(plan)

    def _operator(self, plan: p.Expression) -> Endless:
        match plan:
            case p.GeneralCompare(_, left, right):
                endless = self._all((left, right))
                if not self.streams:  # there a witness decides
                    self._blocks("a general comparison", endless, plan.span)
                return None
            case p.SetOperation(op, left, right):
                return self._blocks(op, self._all((left, right)), plan.span)
            case p.InstanceOf(operand):
                return self._blocks("instance of", self.value(operand), plan.span, ends=True)
            case p.VersionProjection(operand, first, last):
                return self._versions(operand, first, last, plan.span)
            case p.TypeSwitch(variable, operand):
                self.variables[variable] = self.value(operand)
                return self._all(self._inside(plan))
            case p.If() | p.Comma() | p.Switch() | p.Try() | p.DynamicCall() | p.Block():
                return self._all(self._inside(plan))
            case p.IntervalProjection(operand):
                return self._all(self._inside(plan))
            case _:
                # one item, or a sequence as long as its operands say: they are looked into
                self._all(self._inside(plan))
                return None

    def tuples(self, plan: p.Tuples) -> Endless:
        """The input that makes a stream of tuples infinite."""
        match plan:
            case p.Unit():
                return None
            case p.ForEach(source, _, items):
                return self._first([self.tuples(source), self.value(items)])
            case p.ForWindow(source, _, items):
                endless = self._first([self.tuples(source), self.value(items)])
                for boundary in (plan.start, plan.end):
                    if boundary is not None and boundary.test is not None:
                        self.value(boundary.test)
                return endless
            case p.Let(source, variable, value):
                endless = self.tuples(source)
                self.variables[variable] = self.value(value)
                return endless
            case p.Where(source, test):
                endless = self.tuples(source)
                self.value(test)
                return endless
            case p.CountTuples(source):
                return self.tuples(source)
            case p.OrderBy(source, keys):
                endless = self.tuples(source)
                self._all(tuple(key.value for key in keys))
                return self._blocks("order by", endless, plan.span)
            case p.GroupBy(source):
                return self._group(plan, self.tuples(source))
            case p.TupleJoin(left, right):
                return self._first([self.tuples(left), self.tuples(right)])

    def _group(self, plan: p.GroupBy, endless: Endless) -> Endless:
        self._all(tuple(key.value for key in plan.keys))
        self._blocks("group by", endless, plan.span)
        for before, after in plan.carried:
            self.variables[after] = self.variables.get(before)
        return endless

    def _for_each(self, left: p.Expression, right: p.Expression) -> Endless:
        outer = self.value(left)
        at = None if outer is None else _last_in(right)
        if at is not None:
            self._blocks("last()", outer, at)
        return self._first([outer, self.value(right)])

    def _filter(self, source: p.Expression, predicate: p.Expression) -> Endless:
        """A position that is known ends the sequence; last() needs its end."""
        endless = self.value(source)
        self.value(predicate)
        at = None if endless is None else _last_in(predicate)
        if at is not None:
            self._blocks("last()", endless, at)
            return None
        return None if _is_position(predicate) else endless

    def _call(self, plan: p.Call) -> Endless:
        row = plan.function
        args = [self.value(arg) for arg in plan.args]
        for index, endless in enumerate(args):
            if endless is not None and index in row.blocking:
                self._blocks(row.name, endless, plan.span)
        one = of_sequence_type(row.result).at_most_one
        if one or (row.uri, row.local, len(args)) in _FINITE_PART:
            return None
        return self._first(args)

    def _user_call(self, plan: p.UserCall) -> Endless:
        """The body is looked into with what this call passes; a recursion adds nothing new."""
        function = self.program.functions[plan.function]
        args = tuple(self.value(arg) for arg in plan.args)
        key = (plan.function, args)
        if key in self.open_calls:
            return self._first(list(args))
        self.open_calls.add(key)
        before = dict(self.variables)
        self.variables.update(zip((one.variable for one in function.parameters), args, strict=True))
        result = self.value(function.body)
        self.variables = before
        self.open_calls.discard(key)
        return result

    def _versions(
        self, operand: p.Expression, first: p.Expression, last: p.Expression | None, span: Span
    ) -> Endless:
        endless = self.value(operand)
        bounds = [first] if last is None else [first, last]
        if any(isinstance(bound, p.LastVersion) for bound in bounds):
            self._blocks("#[last]", endless, span)
        return None if endless is None or last is None else endless

    def _blocks(self, what: str, endless: Endless, span: Span, ends: bool = False) -> Endless:
        if endless is not None:
            self.found.append(Blocked(what, endless, span))
        return None if ends else endless

    def _inside(self, plan: p.Plan) -> Iterator[p.Expression]:
        for child in children(plan):
            if isinstance(child, STREAMS):
                self.tuples(child)  # type: ignore[arg-type]
            else:
                yield child  # type: ignore[misc]

    def _all(self, plans: Iterator[p.Expression] | tuple[p.Expression, ...]) -> Endless:
        return self._first([self.value(plan) for plan in plans])

    def _first(self, endless: list[Endless]) -> Endless:
        return next((one for one in endless if one is not None), None)


def _is_position(predicate: p.Expression) -> bool:
    return isinstance(predicate, p.Const) and [a.tag for a in predicate.atoms] == [INTEGER]


def _last_in(plan: p.Plan) -> Span | None:
    """Where last() is written: the one that means this context; None if it is not."""
    match plan:
        case _ if not facts(plan).last:
            return None
        case p.Last():
            return plan.span
        case p.Call(function) | p.FunctionRef(function) if function.local in _SIZED:
            return plan.span
        case p.Path(left) | p.SimpleMap(left) | p.Filter(left):
            return _last_in(left)
    found = map(_last_in, children(plan))
    return next((at for at in found if at is not None), None)
