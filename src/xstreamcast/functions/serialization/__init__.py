"""Items as one text: the methods of the serialisation standard, with all their parameters."""

from __future__ import annotations

from typing import Final

import numpy as np

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast import string_value
from xstreamcast.functions.serialization.adaptive import AdaptiveWriter
from xstreamcast.functions.serialization.canonical import CanonicalWriter
from xstreamcast.functions.serialization.characters import Characters
from xstreamcast.functions.serialization.html import HtmlWriter, with_content_type
from xstreamcast.functions.serialization.json import JsonWriter
from xstreamcast.functions.serialization.markup import XhtmlWriter, XmlWriter
from xstreamcast.functions.serialization.parameters import CANONICAL, Parameters
from xstreamcast.functions.serialization.prolog import prolog
from xstreamcast.functions.serialization.tree import Branch, branch
from xstreamcast.model.array_item import flattened
from xstreamcast.model.atomic import FUNCTIONS, NODE
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.tape.layout import ATTRIBUTE, DOCUMENT, NAMESPACE, TEXT

_WRITERS: Final[dict[str, type[XmlWriter]]] = {
    "xml": XmlWriter,
    "xhtml": XhtmlWriter,
    "html": HtmlWriter,
    CANONICAL: CanonicalWriter,
}


def serialized(call: CallContext, items: Items, parameters: Parameters) -> str:
    """The items as one text."""
    match parameters.method:
        case "json":
            return JsonWriter(
                parameters, lambda node: _inside_json(call, node, parameters)
            ).written(items)
        case "adaptive":
            return _adaptive(call, items, parameters)
        case "text":
            return _text(call, items, parameters)
        case _:
            return _markup(call, items, parameters)


def _inside_json(call: CallContext, node: int, parameters: Parameters) -> str:
    """A node as a string of JSON: by the method that the parameters name for nodes."""
    inner = Parameters(
        method=parameters.json_node_output_method,
        encoding=parameters.encoding,
        include_content_type=False,
    )
    return serialized(call, Items.of_nodes(np.array([node], np.int64)), inner)


def _adaptive(call: CallContext, items: Items, parameters: Parameters) -> str:
    def of_node(node: int) -> str:
        tree = branch(call, node)
        if tree.kind == ATTRIBUTE:
            return f'{tree.name}="{Characters(parameters).attribute(tree.value)}"'
        if tree.kind == NAMESPACE:
            prefix = f"xmlns:{tree.local}" if tree.local else "xmlns"
            return f'{prefix}="{Characters(parameters).attribute(tree.value)}"'
        head = prolog(parameters, [tree]) if tree.kind == DOCUMENT else ""
        return head + XmlWriter(parameters).written(tree)

    writer = AdaptiveWriter(parameters, of_node)
    separator = "\n" if parameters.item_separator is None else parameters.item_separator
    return separator.join(writer.item(tag, value) for tag, value in items.pairs())


def _parts(call: CallContext, items: Items, parameters: Parameters) -> list[Branch]:
    """The trees of a sequence: atomic values are text, arrays their members."""
    flat = flattened(Column.constant(items, 1)).items
    found: list[Branch] = []
    atomic = False
    for i, (tag, value) in enumerate(flat.pairs()):
        if tag in FUNCTIONS:
            raise error("SENR0001", "a map or a function cannot be serialised by this method")
        if i and parameters.item_separator is not None:
            found.append(Branch(TEXT, value=parameters.item_separator))
        elif atomic and tag != NODE:
            found.append(Branch(TEXT, value=" "))
        atomic = tag != NODE
        if tag != NODE:
            found.append(Branch(TEXT, value=string_value(tag, value)))
            continue
        tree = branch(call, value)
        if tree.kind in (ATTRIBUTE, NAMESPACE):
            raise error("SENR0001", "an attribute or namespace cannot be serialised on its own")
        found.append(tree)
    return found


def _text(call: CallContext, items: Items, parameters: Parameters) -> str:
    chars = Characters(parameters)
    return "".join(chars.raw(_string(tree)) for tree in _parts(call, items, parameters))


def _string(tree: Branch) -> str:
    """The string value of a tree: its text nodes."""
    if tree.kind == TEXT:
        return tree.value
    return "".join(map(_string, tree.children))


def _markup(call: CallContext, items: Items, parameters: Parameters) -> str:
    trees = _parts(call, items, parameters)
    whole = Branch(DOCUMENT)
    for tree in trees:
        whole.children += tree.children if tree.kind == DOCUMENT else [tree]
    if parameters.method in ("html", "xhtml"):
        whole = with_content_type(whole, parameters)
    head = "" if parameters.method == CANONICAL else prolog(parameters, whole.children)
    return head + _WRITERS[parameters.method](parameters).written(whole)
