"""What a caller gives to a running query: sources of its inputs, values of its variables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.binding import _value
from xstreamcast.errors import error

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.items import Items

Values = dict[tuple[str, str], "Items"]


def bound(
    program: Program, document: Any, inputs: Mapping[str, Any]
) -> tuple[dict[str | None, Any], Values]:
    """The sources by name, None for the context item; and the values of external variables."""
    sources: dict[str | None, Any] = {name: source for name, source in inputs.items()}
    if document is not None:
        sources[None] = document
    variables: Values = {}
    for one in program.variables:
        if one.external and one.local in inputs:
            variables[one.uri, one.local] = _value(inputs[one.local], partial(_refuse, one.local))
    return sources, variables


def _refuse(name: str) -> Items:
    raise error(
        "XSCU0005", f"${name} must be given a value; a document that goes on arriving has none",
        hint=f'read it with stream("{name}")',
    )  # fmt: skip
