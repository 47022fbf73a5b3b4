"""Namespaces in scope. NAMESPACE rows say what changes at an element; the rest is inherited."""

from __future__ import annotations

from xstreamcast.tape.layout import KIND, NAMESPACE, Tape
from xstreamcast.tape.names import XML_URI


def in_scope_namespaces(tape: Tape, row: int) -> dict[str, str]:
    """prefix → URI for the element at `row` or around it; "" is the default namespace."""
    c, found = tape.columns, dict[str, str]()
    while row >= 0:
        i, end = row + 1, row + int(c.size[row])
        while i <= end and c.kind[i] & KIND == NAMESPACE:
            _, prefix, uri = tape.names.qname(int(c.name[i]))
            found.setdefault(prefix, uri)
            i += 1
        row = int(c.parent[row])
    bound = {prefix: uri for prefix, uri in found.items() if uri}
    return {"xml": XML_URI} | bound
