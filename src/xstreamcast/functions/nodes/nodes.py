"""Nodes: their root, children, language, identity; the innermost and outermost of many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.nodes.names import context_node
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import column_of, maybe, one_or, truths
from xstreamcast.model.atomic import BOOLEAN, STRING
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.tape.layout import ELEMENT
from xstreamcast.tape.names import XML_URI
from xstreamcast.tape.steps.axes import NodeTest

if TYPE_CHECKING:
    Bools = npt.NDArray[np.bool_]
    Ints = npt.NDArray[np.int64]

_LANG: Final = NodeTest.attribute("lang", XML_URI)


@function("fn:root($arg as node()?) as node()?")
def root(call: CallContext, arg: Column) -> Column:
    """The root of the tree a node is in."""
    return arg.with_items(Items.of_nodes(call.store.roots(arg.items.values)))


@function("fn:root() as node()", focus=True)
def root_of_context(call: CallContext) -> Column:
    """The root of the tree the context node is in."""
    return root(call, context_node(call))


@function("fn:has-children($node as node()?) as xs:boolean")
def has_children(call: CallContext, node: Column) -> Column:
    """Whether the node has a child."""
    labels, _ = call.store.step(node.items.values, "child", NodeTest.node())
    found = np.zeros(node.n, np.bool_)
    found[node.rows()[labels]] = True
    return truths(found)


@function("fn:has-children() as xs:boolean", focus=True)
def has_children_of_context(call: CallContext) -> Column:
    """Whether the context node has a child."""
    return has_children(call, context_node(call))


@function("fn:nilled($arg as node()?) as xs:boolean?")
def nilled(call: CallContext, arg: Column) -> Column:
    """False for an element (none is validated here), () for other nodes."""
    kinds = iter(call.store.kinds(arg.items.values).tolist())
    flags = (False if length and next(kinds) == ELEMENT else None for length in arg.lengths())
    return maybe(BOOLEAN, flags)


@function("fn:nilled() as xs:boolean?", focus=True)
def nilled_of_context(call: CallContext) -> Column:
    """False for an element, () for other nodes."""
    return nilled(call, context_node(call))


@function("fn:data($arg as item()*) as xs:anyAtomicType*")
def data(call: CallContext, arg: Column) -> Column:
    """The typed values of the items."""
    return atomize(call, arg)


@function("fn:data() as xs:anyAtomicType*", focus=True)
def data_of_context(call: CallContext) -> Column:
    """The typed value of the context item."""
    return atomize(call, call.context_item())


@function("fn:generate-id($arg as node()?) as xs:string")
def generate_id(call: CallContext, arg: Column) -> Column:
    """A string that no other node has, "" for no node."""
    ids = (f"n{h >> 32}x{h & 0xFFFFFFFF}" if h is not None else "" for h in one_or(arg))
    return column_of(STRING, ids)


@function("fn:generate-id() as xs:string", focus=True)
def generate_id_of_context(call: CallContext) -> Column:
    """A string that no other node has."""
    return generate_id(call, context_node(call))


# -- language --------------------------------------------------------------------------------


@function("fn:lang($testlang as xs:string?, $node as node()) as xs:boolean")
def lang(call: CallContext, testlang: Column, node: Column) -> Column:
    """Whether xml:lang at the node or nearest above names the language or a dialect of it."""
    spoken = _languages(call, node.items.values)
    language = one_or(testlang, "")
    return truths(_speaks(a.lower(), b) for a, b in zip(language, spoken, strict=True))


@function("fn:lang($testlang as xs:string?) as xs:boolean", focus=True)
def lang_of_context(call: CallContext, testlang: Column) -> Column:
    """Whether the context node is in the language."""
    return lang(call, testlang, context_node(call))


def _languages(call: CallContext, handles: Ints) -> list[str | None]:
    """The nearest xml:lang of each node."""
    above, ancestors = call.store.step(handles, "ancestor-or-self", NodeTest.node())
    which, attributes = call.store.step(ancestors, "attribute", _LANG)
    found: list[str | None] = [None] * len(handles)
    texts = call.store.strings(attributes).tolist()
    # Document order within a row: the last one is the nearest.
    for row, value in zip(above[which].tolist(), texts, strict=True):
        found[row] = value.lower()
    return found


def _speaks(language: str, spoken: str | None) -> bool:
    return spoken is not None and (spoken == language or spoken.startswith(language + "-"))


# -- innermost and outermost -----------------------------------------------------------------


@function("fn:innermost($nodes as node()*) as node()*", blocking=(0,))
def innermost(call: CallContext, nodes: Column) -> Column:
    """The nodes that are not ancestors of others among them, in document order."""
    rows, handles = _in_order(nodes)
    ends = handles + call.store.sizes(handles)
    # In document order, a node with a descendant here is followed at once by one.
    holds = np.zeros(len(rows), np.bool_)
    holds[:-1] = (rows[1:] == rows[:-1]) & (handles[1:] <= ends[:-1])
    return Column.labelled(Items.of_nodes(handles[~holds]), rows[~holds], nodes.n)


@function("fn:outermost($nodes as node()*) as node()*", blocking=(0,))
def outermost(call: CallContext, nodes: Column) -> Column:
    """The nodes that are not descendants of others among them, in document order."""
    rows, handles = _in_order(nodes)
    ends = handles + call.store.sizes(handles)
    inside = np.zeros(len(rows), np.bool_)
    for run in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(rows)) + 1):
        inside[run[1:]] = handles[run[1:]] <= np.maximum.accumulate(ends[run[:-1]])
    return Column.labelled(Items.of_nodes(handles[~inside]), rows[~inside], nodes.n)


def _in_order(nodes: Column) -> tuple[Ints, Ints]:
    """The nodes of each row in document order, each once: rows and handles."""
    rows, handles = nodes.rows(), nodes.items.values.astype(np.int64)
    order = np.lexsort((handles, rows))
    rows, handles = rows[order], handles[order]
    new = np.ones(len(rows), np.bool_)
    new[1:] = (np.diff(rows) != 0) | (np.diff(handles) != 0)
    return rows[new], handles[new]
