"""An answer as one text, by the output declarations of its query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.evaluate.context import Context
from xstreamcast.functions.serialization import serialized as written
from xstreamcast.functions.serialization.declared import declared_parameters

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.evaluate.context import Inputs
    from xstreamcast.model.items import Items


def serialized(program: Program, inputs: Inputs, items: Items) -> str:
    """The items as the query's own declarations ask."""
    call = Context(program, inputs).call(1)
    return written(call, items, declared_parameters(call, program.settings.options))
