"""The output declarations of a prolog, as serialisation parameters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from xstreamcast.errors import Error, error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.serialization.given import _names, of_element
from xstreamcast.functions.serialization.parameters import NAMED, READ, Parameters, checked
from xstreamcast.functions.signature import OUTPUT
from xstreamcast.tape.steps.axes import NodeTest

_START: Final = Parameters(omit_xml_declaration=False)


def declared_parameters(
    call: CallContext, options: Iterable[tuple[str, str, str]], start: Parameters = _START
) -> Parameters:
    """The parameters that `declare option output:name "value"` sets; a document's come first."""
    given = {local: value for uri, local, value in options if uri == OUTPUT}
    made = start
    if "parameter-document" in given:
        made = _document(call, given.pop("parameter-document"), made)
    changes: dict[str, Any] = {}
    for name, value in given.items():
        try:
            changes[name.replace("-", "_")] = (
                _names(value, {**call.static.in_scope}) if name in NAMED else READ[name](value)
            )
        except Error as caught:
            raise error(caught.code, f"output:{name}: {caught.message}") from caught
    return checked(replace(made, **changes))


def _document(call: CallContext, uri: str, made: Parameters) -> Parameters:
    from xstreamcast.functions.resources.addresses import resolved

    if call.documents is None:
        raise error("XQST0119", f"the parameter document {uri} cannot be read")
    try:
        root = call.documents(resolved(uri, call.static.base_uri))
    except Error as caught:
        raise error("XQST0119", f"the parameter document {uri} cannot be read") from caught
    _, element = call.store.step(np.array([root], np.int64), "child", NodeTest.element())
    try:
        return of_element(call, int(element[0]), made)
    except Error as caught:
        if caught.code in ("SEPM0017", "XPTY0004"):
            raise error("XQST0115", caught.message) from caught
        raise
