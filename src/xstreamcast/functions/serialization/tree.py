"""A node as a walk over its rows: what every markup method writes from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.tape.layout import ATTRIBUTE, DOCUMENT, ELEMENT, KIND, NAMESPACE

if TYPE_CHECKING:
    from xstreamcast.functions.call import CallContext

_ROW = 0xFFFFFFFF


@dataclass(slots=True)
class Branch:
    """A node with what is below it; `namespaces` are those it declares itself."""

    kind: int
    prefix: str = ""
    local: str = ""
    uri: str = ""
    value: str = ""
    namespaces: dict[str, str] = field(default_factory=dict)
    attributes: list[tuple[str, str, str, str]] = field(default_factory=list)
    children: list[Branch] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.prefix}:{self.local}" if self.prefix else self.local


def branch(call: CallContext, node: int) -> Branch:
    """The tree below a node; the root of it carries all namespaces in scope."""
    number, row = node >> 32, node & _ROW
    columns = call.store.tape(number).columns
    rows = np.arange(row, row + int(columns.size[row]) + 1)
    kinds = (columns.kind[rows] & KIND).tolist()
    own = np.array([kind not in (ELEMENT, DOCUMENT) for kind in kinds], np.bool_)
    texts = iter(call.store.strings(rows[own] | (number << 32)).tolist())
    levels = columns.level[rows].tolist()
    names = columns.name[rows].tolist()
    root: Branch | None = None
    open_: list[tuple[int, Branch]] = []
    for kind, level, name in zip(kinds, levels, names, strict=True):
        made = _made(call, kind, name, "" if kind in (ELEMENT, DOCUMENT) else next(texts))
        while open_ and open_[-1][0] >= level:
            open_.pop()
        if root is None:
            root = made
        else:
            _put(open_[-1][1], made)
        if kind in (ELEMENT, DOCUMENT):
            open_.append((level, made))
    assert root is not None
    if root.kind == ELEMENT:
        root.namespaces = {**call.store.in_scope_namespaces(node)}
        root.namespaces.pop("xml", None)
    return root


def _made(call: CallContext, kind: int, name: int, value: str) -> Branch:
    prefix, local, uri = call.store.names.qname(name) if name >= 0 else ("", "", "")
    return Branch(kind, prefix, local, uri, value)


def _put(parent: Branch, made: Branch) -> None:
    if made.kind == NAMESPACE:
        parent.namespaces[made.local] = made.value
    elif made.kind == ATTRIBUTE:
        parent.attributes.append((made.prefix, made.local, made.uri, made.value))
    else:
        parent.children.append(made)
