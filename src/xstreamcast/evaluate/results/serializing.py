"""An answer as one text, by the declarations of its query and the parameters of its caller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xstreamcast.errors import error
from xstreamcast.evaluate.context import Context, now
from xstreamcast.functions.call import CallContext, StaticContext
from xstreamcast.functions.serialization import serialized as written
from xstreamcast.functions.serialization.declared import declared_parameters
from xstreamcast.functions.serialization.parameters import ALL
from xstreamcast.functions.signature import OUTPUT

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.evaluate.context import Inputs
    from xstreamcast.model.items import Items
    from xstreamcast.tape.store import Store


def serialized(program: Program, inputs: Inputs, items: Items) -> str:
    """The items, serialised by the query's own declarations."""
    call = Context(program, inputs).call(1)
    return written(call, items, declared_parameters(call, program.settings.options))


def answer_text(
    store: Store, items: Items, program: Program | None, parameters: Mapping[str, str]
) -> str:
    """The items as the query declares and as `parameters` say, which come first."""
    static = StaticContext() if program is None else program.static
    call = CallContext(1, store, static, now())
    declared = () if program is None else program.settings.options
    given = {name.replace("_", "-"): value for name, value in parameters.items()}
    for name in given:
        if name not in ALL:
            known = ", ".join(sorted(ALL - {"use-character-maps"}))
            raise error("SEPM0016", f"there is no serialisation parameter {name}", hint=known)
    kept = [one for one in declared if one[1] not in given]
    chosen = declared_parameters(call, [*kept, *((OUTPUT, k, v) for k, v in given.items())])
    return written(call, items, chosen)


def declares_output(program: Program) -> bool:
    """Whether the query declares how its answer is serialised."""
    return any(uri == OUTPUT for uri, _, _ in program.settings.options)
