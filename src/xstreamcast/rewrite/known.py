"""Facts about a program that its rules may use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.item_kinds import TypeContext, static_type, tuples_type
from xstreamcast.algebra.nodes.static_type import Kinds, StaticType, of_sequence_type
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.walk import children, descendants
from xstreamcast.rewrite.identity import observes_identity


class Known:
    """Types of variables and new variables; all computed on first use.

    Numbers of variables are unique in a program and rules keep values, so one table is enough.
    """

    def __init__(self, program: Program, numbers: Iterator[int] | None = None) -> None:
        self._program = program
        self._around: TypeContext | None = None
        self._numbers = numbers  # of new variables, where others make some too
        self._identity: bool | None = None
        self.globals = frozenset(declared.variable for declared in program.variables)

    def fresh(self, name: str, kind: StaticType) -> p.Variable:
        """A variable that the program does not use yet, for values of that type."""
        if self._numbers is None:
            used = (v.number for v in _variables(self._program))
            self._numbers = count(1 + max(used, default=0))
        variable = p.Variable(next(self._numbers), name)
        self.learn(variable, kind)
        return variable

    def learn(self, variable: p.Variable, kind: StaticType) -> None:
        """A variable that was created elsewhere."""
        self._around = self.around().bind(variable, kind)

    def around(self) -> TypeContext:
        """The types of all variables."""
        if self._around is None:
            self._around = _types(self._program)
        return self._around

    def type_of(self, plan: p.Expression, focus: StaticType | None = None) -> StaticType:
        """What every value of the expression has in common."""
        return static_type(plan, self.focused(focus))

    def focused(self, focus: StaticType | None) -> TypeContext:
        """The types of all variables, and of the context item."""
        around = self.around()
        return around if focus is None else replace(around, focus=focus)

    @property
    def observes_identity(self) -> bool:
        """Whether the program may distinguish a node from an equal one."""
        if self._identity is None:
            self._identity = observes_identity(bodies(self._program))
        return self._identity

    def only_nodes(self, plan: p.Expression) -> bool:
        """Whether all its items are nodes."""
        return self.type_of(plan).only(Kinds.NODE)


def bodies(program: Program) -> list[p.Expression]:
    """All top-level expressions of a program."""
    values = [v.value for v in program.variables]
    context = None if program.context is None else program.context.value
    found = [*values, context, *(f.body for f in program.functions), program.body]
    return [one for one in found if one is not None]


def _variables(program: Program) -> list[p.Variable]:
    found = [declared.variable for declared in program.variables]
    found += [q.variable for function in program.functions for q in function.parameters]
    for body in bodies(program):
        for node in descendants(body):
            found += _named(node)
    return found


def _named(node: p.Plan) -> list[p.Variable]:
    """The variables a node names itself."""
    match node:
        case p.Var(variable) | p.TypeSwitch(variable) | p.CountTuples(_, variable):
            return [variable]
        case p.Let(_, variable) | p.SetVariable(variable):
            return [variable]
        case p.ForEach(_, variable, _, position):
            return [variable] if position is None else [variable, position]
        case p.ForWindow(variable=variable, start=start, end=end):
            ends = [v for b in (start, end) if b is not None for v in b.variables()]
            return [variable, *ends]
        case p.GroupBy(_, keys, carried):
            return [key.variable for key in keys] + [v for pair in carried for v in pair]
        case p.Inline(parameters):
            return [q.variable for q in parameters]
        case p.Try(_, catches):
            return [getattr(c.variables, name) for c in catches for name in c.variables.__slots__]
        case _:
            return []


def _types(program: Program) -> TypeContext:
    known = {v.variable: of_sequence_type(v.type) for v in program.variables if not v.infinite}
    for function in program.functions:
        known |= {q.variable: of_sequence_type(q.type) for q in function.parameters}
    for body in bodies(program):
        _learn(body, known)
    return TypeContext(known)


def _learn(plan: p.Plan, known: dict[p.Variable, StaticType]) -> None:
    """Add the types of all variables bound inside."""
    match plan:
        case p.Return(source) | p.Quantified(_, source):
            known |= tuples_type(source, TypeContext(known))[1].variables
        case p.TypeSwitch(variable, operand):
            known[variable] = static_type(operand, TypeContext(known))
        case p.Inline(parameters):
            known |= {q.variable: of_sequence_type(q.type) for q in parameters}
        case _:
            pass
    for child in children(plan):
        _learn(child, known)
