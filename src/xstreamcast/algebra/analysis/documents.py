"""Streams that a query reads as documents.

doc("a")  →  stream("a")    where a is a stream
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.program import with_bodies
from xstreamcast.algebra.walk import map_children
from xstreamcast.functions.signature import FN

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program


def with_streams(program: Program, names: Collection[str]) -> Program:
    """The program with streams in the place of documents of these names."""
    if not names:
        return program

    def put(plan: Any) -> Any:
        name = document_name(plan)
        if name is not None and name in names:
            return p.StreamInput(name, span=plan.span)
        return map_children(plan, put)

    return with_bodies(program, put)


def document_name(plan: Any) -> str | None:
    """The name that doc("…") says; None for all else."""
    match plan:
        case p.Call(function, (p.Const((name,)),)) if (function.uri, function.local) == (FN, "doc"):
            return str(name.value)
        case _:
            return None
