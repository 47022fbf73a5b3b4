"""fn:load-xquery-module: a library compiled and given values while a query runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xstreamcast.algebra.lowering import lower_library
from xstreamcast.errors import Error, error
from xstreamcast.evaluate.function_items import declared_item
from xstreamcast.rewrite.optimise import optimise

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.evaluate.context import Context
    from xstreamcast.model.column import Column
    from xstreamcast.model.function_item import FunctionItem
    from xstreamcast.model.items import Items

Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LoadedModule:
    """The public variables and functions of a module."""

    variables: dict[Name, Column]
    functions: dict[tuple[str, str, int], FunctionItem]


def load(
    context: Context,
    uri: str,
    places: tuple[str, ...],
    variables: Mapping[Name, Items],
    item: Items | None,
) -> LoadedModule:
    """A module of a namespace, its external variables and context item given."""
    from xstreamcast.evaluate.context import Context

    inputs = replace(context.inputs, variables=variables, item=item)
    loaded = Context(_compiled(context, uri, places), inputs)
    numbers = [i for i, one in enumerate(loaded.program.libraries, 1) if one.uri == uri]
    public = loaded.program.visible
    functions = {key: declared_item(loaded, index) for key, index in public.items()}
    values = {
        (one.uri, one.local): _value(loaded, one.variable.number)
        for one in loaded.program.variables
        if one.module in numbers and not one.private
    }
    return LoadedModule(values, functions)


def _value(loaded: Context, number: int) -> Column:
    try:
        return loaded.root.variable(number)
    except Error as caught:
        if caught.code == "XPTY0004":
            raise error("FOQM0005", caught.message) from caught
        raise


def _compiled(context: Context, uri: str, places: tuple[str, ...]) -> Program:
    try:
        base = context.static.base_uri
        program = lower_library(uri, places, base_uri=base, modules=context.inputs.modules)
    except Error as caught:
        if caught.code == "XQST0059":
            raise error("FOQM0002", f"no module of the namespace {uri} was found") from caught
        raise error("FOQM0003", f"the module {uri} does not compile: {caught}") from caught
    return optimise(program)
