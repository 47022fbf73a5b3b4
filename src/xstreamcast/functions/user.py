"""Functions written in Python that queries can call."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from xstreamcast.errors import error

if TYPE_CHECKING:
    from xstreamcast.functions.registry import Function
    from xstreamcast.functions.signature import Signature

Python = TypeVar("Python", bound=Callable[..., Any])

_HEAD: Final = re.compile(r"\s*(?:([A-Za-z_][\w.\-]*):)?([A-Za-z_][\w.\-]*)\s*(?=\()")


def function(
    signature: str,
    *,
    namespace: str | None = None,
    vectorised: bool = False,
    deterministic: bool = True,
) -> Callable[[Python], Python]:
    """Lets queries call a Python function: `@function("distance($a as xs:double) as xs:double")`.

    A name without prefix is called without prefix (and as xsc:name); any prefix but xsc, local, fn,
    xs and math needs its `namespace`. Arguments arrive converted to the declared types: str, int,
    float, Decimal, bool, nodes to look at; None for an empty `?`, a list for `*` and `+`; results
    go back the same way. `vectorised`: it is called once for all rows, with columns, and gives a
    column. A function that fails ends the query with XSCD0002.
    """

    head, prefix = _parsed(signature, namespace)

    def add(python: Python) -> Python:
        row = _row(head, signature, python, vectorised, deterministic)
        _register(row, alone=prefix is None and namespace is None)
        return python

    return add


def _row(
    head: Signature,
    signature: str,
    python: Callable[..., Any],
    vectorised: bool,
    deterministic: bool,
) -> Function:
    from xstreamcast.functions.registry import Function
    from xstreamcast.functions.user_calls import in_columns, row_by_row

    body = in_columns if vectorised else row_by_row
    return Function(
        head.uri,
        head.local,
        head.parameters,
        head.variadic,
        head.result,
        body(head, python),
        (python.__doc__ or "").strip().split("\n")[0] or "A function written in Python.",
        (),
        False,
        deterministic,
        signature,
    )


def _parsed(signature: str, namespace: str | None) -> tuple[Signature, str | None]:
    from dataclasses import replace

    from xstreamcast.functions.signature import PREFIXES, XSC, parse_signature

    found = _HEAD.match(signature)
    if found is None:
        raise error("XSCU0005", f"the signature must begin with a name and (; got {signature}")
    prefix, local = found[1], found[2]
    uri = namespace or (XSC if prefix is None else PREFIXES.get(prefix))
    if uri is None:
        raise error("XSCU0005", f"the prefix {prefix} needs its namespace", hint='namespace="…"')
    try:
        head = parse_signature(f"xsc:{local}{signature[found.end() :]}")
    except (ValueError, KeyError, IndexError) as caught:
        raise error("XSCU0005", f"the signature cannot be read: {signature}") from caught
    return replace(head, uri=uri), prefix


def _register(row: Function, alone: bool) -> None:
    from xstreamcast.functions import registry
    from xstreamcast.functions.signature import FN

    known = registry.lookup(FN, row.local, row.arity)
    if alone and known is not None and known.uri == FN:
        raise error(
            "XSCU0005", f"fn:{row.local} is there already", hint=f"call it xsc:{row.local}(…)"
        )
    registry.register(row, also=FN if alone else None)
