"""The inputs that a program reads, wherever its body reaches them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.walk import bottom_up, descendants
from xstreamcast.functions.signature import FN


def inputs_of(program: Program) -> frozenset[str | None]:
    """The names of the inputs that a program reads; None is the context item."""
    found = set(mentioned(inlined(program), focus=True))
    values = {v.variable: v.value for v in program.variables if v.value is not None}
    for function in program.functions:
        found |= mentioned(function.body, focus=False)
        for value in _global_values(function.body, values):
            found |= mentioned(bottom_up(value, _document_call), focus=True)
    return frozenset(found)


def _global_values(
    plan: p.Expression, values: Mapping[p.Variable, p.Expression]
) -> Iterator[p.Expression]:
    """The values of the global variables that a plan refers to, and those that they refer to."""
    left, todo = dict(values), [plan]
    while todo:
        for node in descendants(todo.pop()):
            value = left.pop(node.variable, None) if isinstance(node, p.Var) else None
            if value is not None:
                yield value
                todo.append(value)


def inlined(program: Program) -> p.Expression:
    """The body with global variables that represent inputs put in, and doc("name") as an input."""
    values = {
        v.variable: bottom_up(v.value, _document_call)
        for v in program.variables
        if v.value is not None and not v.external and not facts(v.value).makes_nodes
    }

    def put(node: p.Plan) -> p.Plan:
        if isinstance(node, p.Var) and node.variable in values:
            value = bottom_up(values[node.variable], put)
            return value if mentioned(value, focus=True) else node
        return _document_call(node)

    body: p.Expression = bottom_up(program.body, put)
    return body


def _document_call(node: p.Plan) -> p.Plan:
    match node:
        case p.Call(function, (p.Const((atom,)),)) if (function.uri, function.local) == (FN, "doc"):
            return p.StreamInput(str(atom.value), span=node.span)
        case _:
            return node


def mentioned(plan: p.Expression, focus: bool) -> frozenset[str | None]:
    """The inputs that a plan reads by name; `focus`: and the context item."""
    named = {node.name for node in descendants(plan) if isinstance(node, p.StreamInput)}
    return frozenset(named) | ({None} if focus and facts(plan).reads_focus else frozenset())
