"""Elements by identifier: id, element-with-id, idref.

Identifiers are xml:id attributes. What a DTD declares is not kept on a tape, so an attribute is an
identifier by its name alone, and no attribute is a reference: idref finds nothing.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from xstreamcast.errors import error
from xstreamcast.functions.call import Call
from xstreamcast.functions.node_names import context_node
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import lists, many
from xstreamcast.model.atomic import NODE
from xstreamcast.model.column import Column
from xstreamcast.tape.layout import DOCUMENT
from xstreamcast.tape.names import XML_URI
from xstreamcast.tape.steps import NodeTest

_ID: Final = NodeTest.attribute("id", XML_URI)


@function("fn:id($arg as xs:string*, $node as node()) as element()*")
@function("fn:element-with-id($arg as xs:string*, $node as node()) as element()*")
def id_(call: Call, arg: Column, node: Column) -> Column:
    """The elements whose xml:id is among the words of the strings, in document order."""
    tables = {root: _table(call, root) for root in set(_documents(call, node))}
    rows = zip(many(arg), _documents(call, node), strict=True)
    return lists(NODE, (_found(strings, tables[root]) for strings, root in rows))


@function("fn:id($arg as xs:string*) as element()*", focus=True)
@function("fn:element-with-id($arg as xs:string*) as element()*", focus=True)
def id_in_context(call: Call, arg: Column) -> Column:
    """The elements of this document whose xml:id is among the words of the strings."""
    return id_(call, arg, context_node(call))


@function("fn:idref($arg as xs:string*, $node as node()) as node()*")
def idref(call: Call, arg: Column, node: Column) -> Column:
    """Nothing: no attribute is known to be a reference."""
    _documents(call, node)
    return Column.empty(call.n)


@function("fn:idref($arg as xs:string*) as node()*", focus=True)
def idref_in_context(call: Call, arg: Column) -> Column:
    """Nothing: no attribute is known to be a reference."""
    return idref(call, arg, context_node(call))


def _documents(call: Call, node: Column) -> list[int]:
    """The document of each node (FODC0001)."""
    roots = call.store.roots(node.items.values)
    if (call.store.kinds(roots) != DOCUMENT).any():
        raise error("FODC0001")
    found: list[int] = roots.tolist()
    return found


def _table(call: Call, root: int) -> dict[str, int]:
    """The first element with each identifier."""
    above = np.array([root], np.int64)
    _, elements = call.store.step(above, "descendant", NodeTest.element())
    which, ids = call.store.step(elements, "attribute", _ID)
    names = (" ".join(value.split()) for value in call.store.strings(ids).tolist())
    table: dict[str, int] = {}
    for name, element in zip(names, elements[which].tolist(), strict=True):
        table.setdefault(name, element)
    return table


def _found(strings: list[str], table: dict[str, int]) -> list[int]:
    words = {word for value in strings for word in value.split()}
    return sorted(table[word] for word in words if word in table)
