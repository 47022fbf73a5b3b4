"""What a caller gives to a running query: sources of its inputs, values of its variables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.binding import _value
from xstreamcast.errors import Error, error
from xstreamcast.model.atomic import ATOMIC
from xstreamcast.model.sequence_type import AnyItem, AtomicItem, NodeItem

if TYPE_CHECKING:
    from xstreamcast.algebra.plan import Expression
    from xstreamcast.algebra.program import GlobalVariable, Program
    from xstreamcast.model.items import Items

Values = dict[tuple[str, str], "Items"]


class Input(str):
    """The name of a source; a string that is none is the value of a variable."""

    __slots__ = ()


def bound(
    declared: Sequence[GlobalVariable], document: Any, inputs: Mapping[str, Any]
) -> tuple[dict[str | None, Any], Values]:
    """The sources by name, None for the context item; and the values of external variables."""
    sources: dict[str | None, Any] = {name: source for name, source in inputs.items()}
    if document is not None:
        sources[None] = document
    variables: Values = {}
    for one in declared:
        if one.external and one.local in inputs and not _arrives(inputs[one.local]):
            variables[one.uri, one.local] = _value(inputs[one.local], partial(_refuse, one.local))
    return sources, variables


def reading(program: Program, inputs: Mapping[str, Any]) -> Program:
    """The program with variables that denote inputs: $s is stream("s"), or its elements.

    declare variable $s as element(temp)* external  →  $s := stream("s")/*/temp
    declare variable $s as xs:int* external  →  $s := stream("s")/*/*/xs:int(.)
    """
    made = tuple(
        replace(one, value=_standing(one), external=False)
        if one.external and _arrives(inputs.get(one.local))
        else one
        for one in program.variables
    )
    return program if made == program.variables else replace(program, variables=made)


def _arrives(source: Any) -> bool:
    """Whether a source is read as it comes, rather than being a value."""
    return isinstance(source, Input | bytes | bytearray | memoryview | os.PathLike | Iterator)


def _standing(variable: GlobalVariable) -> Expression:
    match variable.type.item:
        case NodeItem("element", uri, local):
            name = "*" if local is None else f"Q{{{uri or ''}}}{local}"
            return _plan(f'stream("{variable.local}")/*/{name}')
        case AnyItem() | NodeItem("document" | "node"):
            return _plan(f'stream("{variable.local}")')
        case AtomicItem() as item if variable.type.occurs in ("many", "some"):
            return _values(_plan(f'stream("{variable.local}")/*/*'), item)
        case _:
            raise _refused(variable.local)


def _values(elements: Expression, item: AtomicItem) -> Expression:
    """The values of elements: text without a type becomes what the variable is declared as."""
    from xstreamcast.algebra import plan as p

    if item.tag == ATOMIC["anyAtomicType"].tag:
        return p.Path(elements, _plan("data(.)"))
    return p.Path(elements, p.Cast(p.Focus(), item, False, ()))


def _plan(text: str) -> Expression:
    from xstreamcast.algebra.lowering import lower
    from xstreamcast.rewrite.optimise import optimise
    from xstreamcast.syntax import parse

    return optimise(lower(parse(text, "query"))).body


def _refuse(name: str) -> Items:
    raise _refused(name)


def _refused(name: str) -> Error:
    return error(
        "XSCU0005",
        f"${name} must be given a value; what arrives is elements, their values, or a document",
        hint=f"give a value with -b {name}=VALUE, or declare ${name} as element()*",
    )
