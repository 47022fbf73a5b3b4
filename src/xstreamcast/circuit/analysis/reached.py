"""Which inputs a plan reads through functions and variables of the prolog."""

from __future__ import annotations

from typing import Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.walk import descendants


def reading_functions(program: Program) -> frozenset[int]:
    """The functions that read an input: themselves, or through others or the prolog's variables."""
    return frozenset(
        number for number, one in enumerate(program.functions) if reached(one.body, program)
    )


def reached(plan: p.Plan, program: Program) -> frozenset[str]:
    """The inputs that a plan reads, also through functions and variables of the prolog."""
    values = {v.variable: v.value for v in program.variables if v.value is not None}
    found: set[str] = set()
    seen: set[Any] = set()
    todo: list[Any] = [plan]
    while todo:
        for node in descendants(todo.pop()):
            match node:
                case p.StreamInput(name):
                    found.add(name)
                case p.Var(variable) if variable in values and variable not in seen:
                    seen.add(variable)
                    todo.append(values[variable])
                case p.UserCall(function) | p.UserRef(function) if function not in seen:
                    seen.add(function)
                    todo.append(program.functions[function].body)
                case _:
                    pass
    return frozenset(found)
