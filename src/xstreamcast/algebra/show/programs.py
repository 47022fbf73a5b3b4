"""A whole program as text: what differs from the defaults, then variables, functions, body."""

from __future__ import annotations

from collections.abc import Iterator

from xstreamcast.algebra.plan import Expression
from xstreamcast.algebra.program import GlobalVariable, Program, UserFunction
from xstreamcast.algebra.show.layout import Drawing, layout
from xstreamcast.algebra.show.nodes import drawn
from xstreamcast.algebra.show.types import sequence_type


def show_program(program: Program) -> str:
    """The program, one declaration after the other, ending with the body."""
    return "\n".join(layout(drawing) for drawing in _declarations(program))


def _declarations(program: Program) -> Iterator[Drawing]:
    if program.settings.sequential:
        yield Drawing("execution sequential: one binding at a time, in order")
    if program.context is not None:
        value = program.context.value
        head = f"context item as {sequence_type(program.context.type)}"
        head += " external" if program.context.external else ""
        yield _with_value(head, value)
    yield from map(_variable, program.variables)
    yield from map(_function, program.functions)
    yield drawn(program.body)


def _variable(declared: GlobalVariable) -> Drawing:
    kind = sequence_type(declared.type) + ("*" if declared.infinite else "")
    head = f"variable {declared.variable} as {kind}"
    head += " external" if declared.external else ""
    return _with_value(head, declared.value)


def _with_value(head: str, value: Expression | None) -> Drawing:
    return Drawing(head) if value is None else Drawing(f"{head} :=", (drawn(value),), clause=True)


def _function(declared: UserFunction) -> Drawing:
    shown = ", ".join(f"{q.variable} as {sequence_type(q.type)}" for q in declared.parameters)
    head = f"declare {declared.name}({shown}) as {sequence_type(declared.result)}"
    return Drawing(head, (drawn(declared.body),), tall=True)
