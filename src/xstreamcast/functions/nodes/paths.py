"""fn:path: the way to a node, as an expression."""

from __future__ import annotations

from typing import Final

import numpy as np

from xstreamcast.functions.call import CallContext
from xstreamcast.functions.nodes.names import context_node
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import maybe, one_or
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import STRING
from xstreamcast.model.column import Column
from xstreamcast.tape.layout import ATTRIBUTE, COMMENT, DOCUMENT, ELEMENT, NAMESPACE, PI, TEXT
from xstreamcast.tape.steps.axes import NodeTest

_ROOT: Final = f"Q{{{FN}}}root()"


@function("fn:path($arg as node()?) as xs:string?")
def path(call: CallContext, arg: Column) -> Column:
    """An expression that leads from the root to the node: /Q{}a[1]/Q{}b[2]/@id."""
    return maybe(STRING, (None if node is None else _path(call, node) for node in one_or(arg)))


@function("fn:path() as xs:string?", focus=True)
def path_of_context(call: CallContext) -> Column:
    """An expression that leads from the root to the context node."""
    return path(call, context_node(call))


def _path(call: CallContext, node: int) -> str:
    steps: list[str] = []
    above = _parent(call, node)
    while above is not None:
        steps.append(_step(call, node))
        node, above = above, _parent(call, above)
    head = "" if _kind(call, node) == DOCUMENT else _ROOT
    return head + "".join(f"/{step}" for step in reversed(steps)) or "/"


def _parent(call: CallContext, node: int) -> int | None:
    above = int(call.store.parents(np.array([node], np.int64))[0])
    return None if above < 0 else above


def _kind(call: CallContext, node: int) -> int:
    return int(call.store.kinds(np.array([node], np.int64))[0])


def _step(call: CallContext, node: int) -> str:
    names = call.store.names
    number = int(call.store.name_ids(np.array([node], np.int64))[0])
    _, local, uri = names.qname(number) if number >= 0 else ("", "", "")
    match _kind(call, node):
        case kind if kind == ELEMENT:
            return f"Q{{{uri}}}{local}{_place(call, node, NodeTest.element(local, uri))}"
        case kind if kind == ATTRIBUTE:
            return f"@Q{{{uri}}}{local}" if uri else f"@{local}"
        case kind if kind == TEXT:
            return f"text(){_place(call, node, NodeTest.text())}"
        case kind if kind == COMMENT:
            return f"comment(){_place(call, node, NodeTest.comment())}"
        case kind if kind == PI:
            return f"processing-instruction({local}){_place(call, node, NodeTest.pi(local))}"
        case kind:
            assert kind == NAMESPACE
            return f"namespace::{local}" if local else f'namespace::*[Q{{{FN}}}local-name()=""]'


def _place(call: CallContext, node: int, test: NodeTest) -> str:
    before, _ = call.store.step(np.array([node], np.int64), "preceding-sibling", test)
    return f"[{len(before) + 1}]"
