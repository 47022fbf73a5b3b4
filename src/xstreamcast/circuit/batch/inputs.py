"""The inputs of a history query: the one whose units are distributed, and constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts, free_numbers
from xstreamcast.algebra.program import GlobalVariable, Program
from xstreamcast.algebra.walk import bottom_up, descendants
from xstreamcast.circuit.analysis.normal import CONTEXT
from xstreamcast.functions.signature import FN
from xstreamcast.model.sequence_type import ANY

_READERS: Final = frozenset(
    {"doc", "doc-available", "collection", "unparsed-text", "unparsed-text-lines"}
)


def free_name(name: str | None, inputs: Mapping[str | None, Any]) -> str:
    """A name for an input that no other has: the context item has none."""
    found = name or "input"
    while name is None and found in inputs:
        found += "_"
    return found


def with_constants(program: Program, name: str) -> tuple[Program, dict[p.Variable, str]]:
    """The program with variables in the place of inputs that every task reads whole."""
    numbers = free_numbers(program, [program.body])
    named = {node.name for node in descendants(program.body) if isinstance(node, p.StreamInput)}
    constants = {one: p.Variable(next(numbers), one) for one in sorted(named - {name, CONTEXT})}

    def put(node: p.Plan) -> p.Plan:
        if isinstance(node, p.StreamInput) and node.name in constants:
            return p.Var(constants[node.name], span=node.span)
        return node

    declared = tuple(
        GlobalVariable(variable, "", one, ANY, None, True, False)
        for one, variable in constants.items()
    )
    body: p.Expression = bottom_up(program.body, put)
    made = replace(program, body=body, variables=program.variables + declared)
    return made, {variable: one for one, variable in constants.items()}


def is_read_elsewhere(program: Program, name: str) -> bool:
    """Whether something other than the body reads an input, or may read any."""
    used = facts(program.body).used
    values = [v.value for v in program.variables if v.value is not None and v.variable in used]
    plans: list[p.Plan] = [*values, *(one.body for one in program.functions)]
    called = facts(program.body).calls or bool(values)
    nodes = [node for plan in plans for node in descendants(plan)] if called else []
    nodes += [node for node in descendants(program.body) if not isinstance(node, p.StreamInput)]
    return any(_reads(node, name) for node in nodes) or (
        name == CONTEXT and called and any(facts(plan).reads_focus for plan in plans)
    )


def _reads(node: p.Plan, name: str) -> bool:
    match node:
        case p.StreamInput(other):
            return other == name
        case p.Call(function) | p.FunctionRef(function):
            return function.uri == FN and function.local in _READERS
        case _:
            return False
