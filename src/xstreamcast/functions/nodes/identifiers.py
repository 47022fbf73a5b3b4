"""Elements by identifier: id, element-with-id, idref.

Identifiers are xml:id attributes and those that a DTD declares as ID; references are attributes
that it declares as IDREF or IDREFS. A stream's structure may declare them, too.

Of a document the first element with an identifier counts. A stream holds all versions of what has
one: they are found together, and a projection chooses among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.nodes.names import context_node
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import lists, many
from xstreamcast.model.atomic import NODE
from xstreamcast.model.column import Column
from xstreamcast.model.structure import Identifiers
from xstreamcast.model.xml_names import NCNAME
from xstreamcast.tape.layout import DOCUMENT
from xstreamcast.tape.names import XML_URI
from xstreamcast.tape.steps.axes import NodeTest

_ID: Final = NodeTest.attribute("id", XML_URI)


@function("fn:id($arg as xs:string*, $node as node()) as element()*")
@function("fn:element-with-id($arg as xs:string*, $node as node()) as element()*")
def id_(call: CallContext, arg: Column, node: Column) -> Column:
    """The elements whose xml:id is among the words of the strings, in document order."""
    tables = {root: _table(call, root) for root in set(_documents(call, node))}
    rows = zip(many(arg), _documents(call, node), strict=True)
    return lists(NODE, (_found(strings, tables[root]) for strings, root in rows))


@function("fn:id($arg as xs:string*) as element()*", focus=True)
@function("fn:element-with-id($arg as xs:string*) as element()*", focus=True)
def id_in_context(call: CallContext, arg: Column) -> Column:
    """The elements of this document whose xml:id is among the words of the strings."""
    return id_(call, arg, context_node(call))


@function("fn:idref($arg as xs:string*, $node as node()) as node()*")
def idref(call: CallContext, arg: Column, node: Column) -> Column:
    """The attributes that refer to one of the identifiers, in document order."""
    tables = {root: _references(call, root) for root in set(_documents(call, node))}
    rows = zip(many(arg), _documents(call, node), strict=True)
    return lists(NODE, (_referring(strings, tables[root]) for strings, root in rows))


@function("fn:idref($arg as xs:string*) as node()*", focus=True)
def idref_in_context(call: CallContext, arg: Column) -> Column:
    """The attributes of this document that refer to one of the identifiers."""
    return idref(call, arg, context_node(call))


def _documents(call: CallContext, node: Column) -> list[int]:
    """The document of each node (FODC0001)."""
    roots = call.store.roots(node.items.values)
    if (call.store.kinds(roots) != DOCUMENT).any():
        raise error("FODC0001")
    found: list[int] = roots.tolist()
    return found


def _attributes(call: CallContext, root: int, test: NodeTest) -> Iterator[tuple[int, int, str]]:
    """(element, attribute, value) of the attributes that pass a test."""
    above = np.array([root], np.int64)
    _, elements = call.store.step(above, "descendant", NodeTest.element())
    which, found = call.store.step(elements, "attribute", test)
    values = call.store.strings(found).tolist()
    yield from zip(elements[which].tolist(), found.tolist(), values, strict=True)


def _declared(call: CallContext, root: int, *kinds: str) -> Iterator[tuple[int, int, str]]:
    """The attributes that a DTD declares with one of the types."""
    declared = call.store.tape(root >> 32).declared or {}
    wanted = {names for names, kind in declared.items() if kind in kinds}
    if not wanted:
        return
    for element, attribute, value in _attributes(call, root, NodeTest.node()):
        if (_written(call, element), _written(call, attribute)) in wanted:
            yield element, attribute, value


def _written(call: CallContext, node: int) -> str:
    number = int(call.store.name_ids(np.array([node], np.int64))[0])
    lexical: str = call.store.names.lexical(number)
    return lexical


def _table(call: CallContext, root: int) -> dict[str, list[int]]:
    """The first element with each identifier; of a stream, all of them."""
    table: dict[str, list[int]] = {}
    versioned = isinstance(call.store.tape(root >> 32).declared, Identifiers)
    named = [*_attributes(call, root, _ID), *_declared(call, root, "ID")]
    for element, _, value in sorted(named):
        name = " ".join(value.split())
        if NCNAME.fullmatch(name):
            known = table.setdefault(name, [element])
            if versioned and known[-1] != element:
                known.append(element)
    return table


def _references(call: CallContext, root: int) -> list[tuple[int, frozenset[str]]]:
    found = _declared(call, root, "IDREF", "IDREFS")
    return [(attribute, frozenset(value.split())) for _, attribute, value in found]


def _referring(strings: list[str], table: list[tuple[int, frozenset[str]]]) -> list[int]:
    wanted = {" ".join(value.split()) for value in strings}
    return sorted(attribute for attribute, names in table if names & wanted)


def _found(strings: list[str], table: dict[str, list[int]]) -> list[int]:
    words = {word for value in strings for word in value.split()}
    return sorted({element for word in words for element in table.get(word, ())})
