"""One form for what differs only in writing: functions, variables and the context item put in.

A program in normal form reads its inputs by StreamInput alone, wherever the query reaches them
through variables of the prolog, `let`, functions that do not call themselves, doc(…) or the context
item. It has the same value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import bound_by, facts, free_numbers
from xstreamcast.algebra.program import Program, UserFunction
from xstreamcast.algebra.walk import bottom_up, descendants, map_children
from xstreamcast.circuit.analysis.copied import is_projection, is_read_once, may_be_copied
from xstreamcast.circuit.analysis.focus import OF_THE_FOCUS
from xstreamcast.circuit.analysis.reached import reading_functions
from xstreamcast.circuit.analysis.root_positions import hoisted
from xstreamcast.circuit.analysis.sinking import all_sunk
from xstreamcast.circuit.passes.values import with_values
from xstreamcast.functions.call import CODEPOINT
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import STRING
from xstreamcast.model.sequence_type import FunctionType, SequenceType
from xstreamcast.rewrite.known import Known, bodies
from xstreamcast.rewrite.optimise import optimise

_COLLATED: Final = frozenset({"distinct-values", "min", "max", "sort"})
CONTEXT: Final = "\x00context"  # the name of the context item among the inputs


def normal(program: Program) -> Program:
    """The program in normal form, optimised."""
    numbers = free_numbers(program, [program.body])
    inlining = _Inlining(program, numbers)
    body = inlining.body()
    program = replace(program, functions=inlining.functions())
    body = hoisted(_unlet(_collated(body, program.static.collation), numbers))
    made = optimise(replace(program, body=body))
    made = replace(made, body=all_sunk(made.body, Known(made)))
    unused = free_numbers(made, [made.body])
    body = with_values(made.body, lambda name: p.Variable(next(unused), name))
    return replace(made, body=_unique(body, free_numbers(made, [body])))


def _collated(body: p.Expression, collation: str) -> p.Expression:
    """f(e)  →  f(e, collation), where f compares strings, and not by codepoints: what is kept of
    strings for a call of one argument sorts and compares them by codepoints.
    """
    if collation == CODEPOINT:
        return body
    named = p.Const((p.Atom(STRING, collation),))

    def one(node: Any) -> Any:
        match node:
            case p.Call(function, (argument,)) if (
                function.uri == FN and function.local in _COLLATED
            ):
                made = lookup(FN, function.local, 2)
                assert made is not None
                return replace(node, function=made, args=(argument, named))
            case _:
                return node

    return bottom_up(body, one)  # type: ignore[no-any-return]


def input_name(name: str) -> str | None:
    """The name of an input as callers know it; None is the context item."""
    return None if name == CONTEXT else name


def mentions(plan: p.Plan) -> frozenset[str]:
    """The inputs that a plan reads."""
    return frozenset(n.name for n in descendants(plan) if isinstance(n, p.StreamInput))


class _Inlining:
    """One walk over a program: what represents an input is put where it is used."""

    def __init__(self, program: Program, numbers: Iterator[int]) -> None:
        self._program, self._numbers = program, numbers
        self._globals = {
            one.variable: one
            for one in program.variables
            if one.value is not None and not one.external
        }
        self._recursive = _recursive(program)
        self._reading = reading_functions(program)
        self._bound: dict[p.Variable, tuple[p.Variable, p.Expression] | None] = {}
        self._in_function = False
        self._names = any(_names_functions(one) for one in bodies(program))

    def body(self) -> p.Expression:
        """The body with everything put in, behind the globals whose nodes must stay the same."""
        body: p.Expression = self._put(self._program.body)
        for found in reversed(self._bound.values()):
            if found is not None:
                body = p.Return(p.Let(p.Unit(), *found), body)
        put: p.Expression = _from_context(body)
        return put

    def functions(self) -> tuple[UserFunction, ...]:
        """The functions; variables that read inputs are put in, unless they make nodes: those that
        the body binds cannot be seen from a function.
        """
        self._in_function = True
        return tuple(replace(one, body=self._put(one.body)) for one in self._program.functions)

    def _put(self, plan: Any) -> Any:
        return bottom_up(plan, self._one)

    def _one(self, node: Any) -> Any:
        match node:
            case p.Var(variable) if variable in self._globals:
                return self._global(node)
            case p.Call(function, (p.Const((atom,)),)) if (function.uri, function.local) == (
                FN,
                "doc",
            ):
                return p.StreamInput(str(atom.value), span=node.span)
            case p.UserCall(index, args) if self._is_inlined(index):
                return self._called(index, args, node.span)
            case p.UserRef(index) if self._is_inlined(index) and not self._names:
                return self._referred(index, node.span)
            case _:
                return node

    def _global(self, node: p.Var) -> p.Expression:
        """A variable of the prolog: its value, if that reads an input; a variable of the body, if
        it makes nodes too, which are the same wherever they are read.
        """
        if not self._in_function and node.variable in self._bound:
            found = self._bound[node.variable]
            return node if found is None else p.Var(found[0], span=node.span)
        value = self._globals[node.variable].value
        assert value is not None
        made = _from_context(self._put(value))  # of the context item, in a predicate too
        known = facts(made)
        if self._in_function:
            kept = known.makes_nodes or known.calls or not mentions(made)
            return node if kept else _renamed(made, self._numbers)
        calls = {n.function for n in descendants(made) if isinstance(n, p.UserCall | p.UserRef)}
        bound = {found[0] for found in self._bound.values() if found is not None}
        if not (mentions(made) or known.reads_focus or calls & self._reading or known.used & bound):
            self._bound[node.variable] = None
            return node
        if not (known.makes_nodes or known.calls):
            return _renamed(made, self._numbers)
        own = p.Variable(next(self._numbers), node.variable.name)
        self._bound[node.variable] = own, _renamed(made, self._numbers)
        return p.Var(own, span=node.span)

    def _is_inlined(self, index: int) -> bool:
        body = self._program.functions[index].body
        return index not in self._recursive and not facts(body).reads_focus

    def _called(self, index: int, args: tuple[p.Expression, ...], span: Any) -> p.Expression:
        """The body of a function with its parameters bound by let."""
        function = self._program.functions[index]
        body = self._put(function.body)
        source: p.Tuples = p.Unit()
        for parameter, argument in zip(function.parameters, args, strict=True):
            source = p.Let(source, parameter.variable, argument, span=span)
        # arguments keep their variables: only what the function itself binds is renamed
        own = frozenset(parameter.variable for parameter in function.parameters)
        return _renamed(p.Return(source, body, span=span), self._numbers, own)

    def _referred(self, index: int, span: Any) -> p.Expression:
        """A declared function where its name is a value: the function that it is."""
        function = self._program.functions[index]
        own = p.Inline(function.parameters, function.result, self._put(function.body), span=span)
        bound = frozenset(parameter.variable for parameter in function.parameters)
        return _renamed(own, self._numbers, bound)


def _names_functions(plan: p.Plan) -> bool:
    """Whether it may ask a function for its name."""
    return any(
        isinstance(one, p.Call | p.FunctionRef) and one.function.local == "function-name"
        for one in descendants(plan)
    )


def _recursive(program: Program) -> frozenset[int]:
    """The functions that call themselves, directly or through others."""
    calls = {
        number: {n.function for n in descendants(one.body) if isinstance(n, p.UserCall)}
        for number, one in enumerate(program.functions)
    }
    found = set()
    for number in calls:
        seen: set[int] = set()
        todo = list(calls[number])
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo += calls[one]
        if number in seen:
            found.add(number)
    return frozenset(found)


def _renamed(
    plan: p.Expression, numbers: Iterator[int], more: frozenset[p.Variable] = frozenset()
) -> p.Expression:
    """A copy whose bound variables are new: numbers stay unique when it is in several places.

    `more`: variables that count as bound, too.
    """
    made: p.Expression = _with_names(plan, _new_names(facts(plan).bound | more, numbers))
    return made


def _new_names(
    bound: frozenset[p.Variable], numbers: Iterator[int]
) -> dict[p.Variable, p.Variable]:
    """Another variable for each, in one order in all processes: snapshots are of one circuit."""
    ordered = sorted(bound, key=lambda variable: variable.number)
    return {variable: p.Variable(next(numbers), variable.name) for variable in ordered}


def _with_names(value: Any, names: dict[p.Variable, p.Variable]) -> Any:
    """Any part of a plan with other variables."""
    if not names:
        return value
    if isinstance(value, p.Variable):
        return names.get(value, value)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        made = tuple(_with_names(one, names) for one in value)
        return made if any(a is not b for a, b in zip(made, value, strict=True)) else value
    if is_dataclass(value) and type(value).__module__.startswith("xstreamcast.algebra"):
        changed = {}
        for field in fields(value):
            old = getattr(value, field.name)
            new = _with_names(old, names)
            if new is not old:
                changed[field.name] = new
        return replace(value, **changed) if changed else value  # type: ignore[type-var]
    return value


def _unique(plan: p.Expression, numbers: Iterator[int]) -> p.Expression:
    """The plan in which no variable is bound in two places: rules may copy a loop."""
    sites = Counter(v for node in descendants(plan) for v in _binds(node))
    again = {variable for variable, count in sites.items() if count > 1}

    def one(node: Any) -> Any:
        if not isinstance(node, p.Return | p.Quantified):
            return node
        own = facts(node.source).bound & again
        return _with_names(node, _new_names(own, numbers))

    made: p.Expression = bottom_up(plan, one) if again else plan
    return made


def _binds(node: p.Plan) -> tuple[p.Variable, ...]:
    match node:
        case p.ForEach() | p.Let() | p.CountTuples() | p.ForWindow() | p.GroupBy():
            return bound_by(node)
        case _:
            return ()


def _from_context(plan: Any) -> Any:
    """The plan with an input in the place of the outermost context item."""
    match plan:
        case p.Focus():
            return p.StreamInput(CONTEXT, span=plan.span)
        case p.Path(left) | p.SimpleMap(left):
            return replace(plan, left=_from_context(left))
        case p.Filter(input):
            return replace(plan, input=_from_context(input))
        case p.Inline():
            return plan
        case p.Call(function, args) if function.focus and function.local not in OF_THE_FOCUS:
            made = lookup(function.uri, function.local, len(args) + 1)
            assert made is not None
            own = (*map(_from_context, args), p.StreamInput(CONTEXT, span=plan.span))
            return replace(plan, function=made, args=own)
        case _ if facts(plan).focus:
            return map_children(plan, _from_context)
        case _:
            return plan


def _unlet(plan: p.Expression, numbers: Iterator[int]) -> p.Expression:
    """let $v := e … $v …  →  … e …, if e reads an input and gives the same nodes each time, or
    if it is a function: where it is called, it is no function item any more.
    """

    def one(node: Any) -> Any:
        if not isinstance(node, p.Return | p.Quantified):
            return node
        return _without_lets(node, numbers)

    made: p.Expression = bottom_up(plan, one)
    return made


def _without_lets(node: Any, numbers: Iterator[int]) -> Any:
    clauses: list[Any] = []
    source = node.source
    while not isinstance(source, p.Unit):
        clauses.append(source)
        source = _source(source)
    values: dict[p.Variable, p.Expression] = {}
    kept: p.Tuples = source

    def put(child: Any) -> Any:
        if isinstance(child, p.Var) and child.variable in values:
            return _renamed(values[child.variable], numbers)
        return child

    carried = {before for c in clauses if isinstance(c, p.GroupBy) for before, _ in c.carried}
    last = node.result if isinstance(node, p.Return) else node.test
    for at, clause in reversed(list(enumerate(clauses))):
        changed = _mapped(clause, put) if values else clause
        if (
            isinstance(changed, p.Let)
            and changed.variable not in carried
            and _is_inlined(changed, clauses[:at][::-1], last)
        ):
            values[changed.variable] = changed.value
            continue
        side = "left" if isinstance(changed, p.TupleJoin) else "source"
        kept = replace(changed, **{side: kept})
    if not values:
        return node
    field = "result" if isinstance(node, p.Return) else "test"
    made = replace(node, source=kept, **{field: bottom_up(last, put)})
    if isinstance(made, p.Return) and isinstance(kept, p.Unit):
        return made.result
    return made


def _mapped(clause: Any, put: Any) -> Any:
    """A clause with its own expressions changed; its source comes later."""
    source = _source(clause)
    return map_children(clause, lambda c: c if c is source else bottom_up(c, put))


def _source(clause: Any) -> Any:
    """The clauses before a clause."""
    return clause.left if isinstance(clause, p.TupleJoin) else clause.source


def _is_function(plan: p.Expression) -> bool:
    """Whether it is a function that is written there: it is one value wherever it is read, and no
    operator can keep it, because it reads what was at hand when it was made.
    """
    match plan:
        case p.Inline():
            return True
        case p.FunctionRef(function):
            return not function.focus
        case p.Convert(inner, SequenceType(FunctionType())):
            return _is_function(inner)
        case p.Partial(inner, args):
            given = [one for one in args if one is not None]
            return _is_function(inner) and all(
                isinstance(one, p.Const | p.Var) or _is_function(one) for one in given
            )
        case _:
            return False


def _is_inlined(let: p.Let, behind: Sequence[Any], last: p.Expression) -> bool:
    if _is_function(let.value):
        return True
    known = facts(let.value)
    if not known.pure or known.calls or known.reads_focus or not mentions(let.value):
        return False
    if not known.makes_nodes or is_read_once(let.variable, behind, last):
        return True
    return is_projection(let.value) and may_be_copied(let.variable, behind, last)
