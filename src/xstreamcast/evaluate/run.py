"""The way in: a program and its inputs → the items of its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.evaluate.context import Context, Inputs
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.walk import evaluate

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.items import Items


def run(program: Program, inputs: Inputs) -> Items:
    """The answer of the query; its nodes are handles into the inputs' store."""
    context = Context(program, inputs)
    return deep(lambda: evaluate(program.body, context.root).items)
