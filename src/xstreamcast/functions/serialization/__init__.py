"""fn:serialize: a sequence as one string of XML or text."""

from __future__ import annotations

import unicodedata

import numpy as np

from xstreamcast.errors import error
from xstreamcast.functions.call import Call
from xstreamcast.functions.cast import string_value
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import one_or, text
from xstreamcast.functions.serialization.parameters import Parameters, parameters_of
from xstreamcast.model.atomic import FUNCTION, NODE
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.tape.layout import ATTRIBUTE, DOCUMENT, ELEMENT, NAMESPACE, TEXT
from xstreamcast.tape.steps import NodeTest


@function("fn:serialize($arg as item()*) as xs:string", blocking=(0,))
@function("fn:serialize($arg as item()*, $params as item()?) as xs:string", blocking=(0,))
def serialize(call: Call, arg: Column, params: Column | None = None) -> Column:
    """The items as XML, or as the output:serialization-parameters say."""
    given = one_or(params) if params is not None else [None] * call.n
    if params is not None and len(params.items) and params.items.kinds() != {NODE}:
        raise error("XPTY0004", "the parameters must be an output:serialization-parameters element")
    asked = (Parameters() if one is None else parameters_of(call, one) for one in given)
    return text(serialized(call, arg.row(i), one) for i, one in enumerate(asked))


def serialized(call: Call, items: Items, asked: Parameters) -> str:
    """The items as one string."""
    parts, roots = _parts(call, items, asked)
    made = _prolog(call, asked, roots) + "".join(parts)
    if asked.normalization_form == "none":
        return made
    return unicodedata.normalize(asked.normalization_form, made)  # type: ignore[arg-type]


def _parts(call: Call, items: Items, asked: Parameters) -> tuple[list[str], list[int]]:
    """The texts of the items with what goes between them, and the nodes at the top."""
    parts: list[str] = []
    roots: list[int] = []
    atomic_before = False
    for i, (tag, value) in enumerate(items.pairs()):
        if i and asked.item_separator is not None:
            parts.append(_characters(asked.item_separator, asked))
        elif atomic_before and tag != NODE:
            parts.append(" ")
        atomic_before = tag != NODE
        if tag == NODE:
            roots += _top(call, value)
            parts.append(_node(call, value, asked))
        elif tag == FUNCTION:
            raise error("SENR0001", "a function cannot be serialised")
        else:
            parts.append(_characters(string_value(tag, value), asked))
            roots.append(-1)
    return parts, roots


def _characters(value: str, asked: Parameters) -> str:
    """Text as the method writes it."""
    if asked.method == "text":
        return value
    value = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return value.replace("\r", "&#xD;").replace("\x85", "&#x85;").replace("\u2028", "&#x2028;")


def _node(call: Call, node: int, asked: Parameters) -> str:
    handle = np.array([node], np.int64)
    kind = int(call.store.kinds(handle)[0])
    if kind in (ATTRIBUTE, NAMESPACE):
        raise error("SENR0001")
    if asked.method == "xml":
        return str(call.store.serialize(node).decode())
    return str(call.store.strings(handle)[0]) if kind in (DOCUMENT, ELEMENT, TEXT) else ""


def _top(call: Call, node: int) -> list[int]:
    """The nodes that stand at the top of the result: a document stands for its children."""
    handle = np.array([node], np.int64)
    if call.store.kinds(handle)[0] != DOCUMENT:
        return [node]
    _, children = call.store.step(handle, "child", NodeTest.node())
    found: list[int] = children.tolist()
    return found


def _prolog(call: Call, asked: Parameters, roots: list[int]) -> str:
    """XML declaration and document type, as far as they are asked for."""
    if asked.method != "xml":
        return ""
    if asked.standalone is not None or asked.doctype_system is not None:
        _check_document(call, roots)
    head = "" if asked.omit_xml_declaration else _declaration(asked)
    if asked.doctype_system is None:
        return head
    public = f'PUBLIC "{asked.doctype_public}"' if asked.doctype_public is not None else "SYSTEM"
    quote = "'" if '"' in asked.doctype_system else '"'
    root = _element_name(call, roots)
    return f"{head}<!DOCTYPE {root} {public} {quote}{asked.doctype_system}{quote}>"


def _declaration(asked: Parameters) -> str:
    alone = "" if asked.standalone is None else f' standalone="{_yes(asked.standalone)}"'
    return f'<?xml version="{asked.version}" encoding="{asked.encoding}"{alone}?>'


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"


def _check_document(call: Call, roots: list[int]) -> None:
    """One element, no text: SEPM0004."""
    nodes = np.array([root for root in roots if root >= 0], np.int64)
    kinds = call.store.kinds(nodes).tolist()
    if kinds.count(ELEMENT) != 1 or TEXT in kinds or len(nodes) < len(roots):
        raise error("SEPM0004")


def _element_name(call: Call, roots: list[int]) -> str:
    nodes = np.array(roots, np.int64)
    element = nodes[call.store.kinds(nodes) == ELEMENT][:1]
    name: str = call.store.names.lexical(int(call.store.name_ids(element)[0]))
    return name
