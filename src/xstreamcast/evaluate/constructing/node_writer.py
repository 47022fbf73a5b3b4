"""Writes constructed nodes: text merged, attributes first, namespaces bound as names need them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra.plan import StaticName
from xstreamcast.errors import error
from xstreamcast.evaluate.constructing.node_names import XML_URI
from xstreamcast.tape.layout import ATTRIBUTE, NAMESPACE, TEXT
from xstreamcast.tape.writing.builder import Builder

if TYPE_CHECKING:
    from xstreamcast.algebra.plan import CopyMode, Namespaces
    from xstreamcast.model.column import Ints
    from xstreamcast.tape.store import Store


class _Open:
    """An element or document whose end was not yet written."""

    __slots__ = ("attributes", "bindings", "head", "inherited", "name", "scope", "text")

    def __init__(
        self, name: StaticName | None, bindings: dict[str, str], inherited: dict[str, str]
    ) -> None:
        self.name = name  # None: a document
        self.bindings = bindings  # requested namespaces
        self.inherited = inherited  # namespaces it has because it is a copy, as all inside it
        self.attributes: dict[tuple[str, str], tuple[StaticName, str]] = {}
        self.head = name is not None  # whether attributes may still come
        self.scope: dict[str, str] = {}
        self.text: list[str] = []


class NodeWriter:
    """One tape of new nodes; each outermost node is a root."""

    def __init__(self, store: Store, copy: CopyMode) -> None:
        self.store = store
        self._builder = Builder(store.names, preserve=copy.preserve, inherit=copy.inherit)
        self._inherit = copy.inherit
        self._open: list[_Open] = []
        self._ids: dict[tuple[str, str, str], int] = {}

    def finish(self) -> Ints:
        """The roots, as handles into the store."""
        tape = self._builder.finish()
        number = self.store.add(tape)
        return tape.roots() | np.int64(number << 32)

    # -- elements and documents -----------------------------------------------------------------

    def start(self, name: StaticName, namespaces: Namespaces, nested: bool = False) -> None:
        """Begin an element; unless it is a nested constructor, it represents a copy of itself."""
        self._settle()
        self._open.append(_Open(name, dict(namespaces), self._inherited(nested)))

    def _inherited(self, nested: bool) -> dict[str, str]:
        """The namespaces that a new element here inherits."""
        if not self._open:
            return {}
        parent = self._open[-1]
        if nested:
            return parent.inherited
        return parent.scope if self._inherit else {}

    def start_document(self) -> None:
        """Begin a document; inside other content it is only its children."""
        self._settle()
        self._builder.start_document()
        self._open.append(_Open(None, {}, {}))

    def end(self) -> None:
        """End the innermost element or document."""
        self._settle()
        self._open.pop()
        self._builder.end()

    def _settle(self) -> None:
        """Write what is pending of the innermost element: its head, then its text."""
        if not self._open:
            return
        top = self._open[-1]
        if top.head:
            self._write_head(top)
        if top.text:
            text = "".join(top.text)
            top.text.clear()
            if text:
                self._builder.text(text)

    # -- content --------------------------------------------------------------------

    def text(self, value: str) -> None:
        """Text, merged with adjacent text."""
        if value:
            self._open[-1].text.append(value)

    def lone_text(self, value: str) -> None:
        """A text node that is a root."""
        self._builder.text(value)

    def comment(self, value: str) -> None:
        self._settle()
        self._builder.comment(value)

    def pi(self, target: str, value: str) -> None:
        self._settle()
        self._builder.pi(target, value)

    def attribute(self, name: StaticName, value: str) -> None:
        """An attribute of the innermost element, or a root."""
        if name.uri == XML_URI and name.local == "id":
            value = " ".join(value.split())
        if not self._open:
            prefix = name.prefix or ("xml" if name.uri == XML_URI else "ns0" if name.uri else "")
            self._builder.attribute(self._id(prefix, name.local, name.uri), value)
            return
        top = self._early("an attribute")
        if (name.uri, name.local) in top.attributes:
            raise error("XQDY0025", f"the element has two attributes named {name.local}")
        top.attributes[name.uri, name.local] = name, value

    def namespace(self, prefix: str, uri: str) -> None:
        """A namespace binding of the innermost element, or a root."""
        if not self._open:
            self._builder.namespace(prefix, uri)
            return
        top = self._early("a namespace")
        if prefix == "xml":  # it is bound everywhere
            return
        if top.bindings.get(prefix, uri) != uri:
            raise error("XQDY0102", f"the prefix {prefix or '(default)'} is bound twice")
        top.bindings[prefix] = uri

    def _early(self, what: str) -> _Open:
        top = self._open[-1]
        if top.name is None:
            raise error("XPTY0004", f"{what} cannot be in a document")
        if not top.head or top.text:
            raise error("XQTY0024", f"{what} cannot come after other content")
        return top

    def node(self, handle: int, kind: int, value: str, name: int) -> None:
        """A copy of a node as content; of texts, attributes and namespaces the parts suffice."""
        if kind == TEXT:
            self.text(value)
        elif kind == ATTRIBUTE:
            self.attribute(StaticName(*self.store.names.qname(name)), value)
        elif kind == NAMESPACE:
            _, prefix, uri = self.store.names.qname(name)
            self.namespace(prefix, uri)
        else:
            self._settle()
            self._builder.copy(self.store, handle)

    # -- names ----------------------------------------------------------------------------------

    def _id(self, prefix: str, local: str, uri: str) -> int:
        known = self._ids.get((prefix, local, uri))
        if known is None:
            known = self._ids[prefix, local, uri] = self.store.names.intern(prefix, local, uri)
        return known

    # -- heads ----------------------------------------------------------------------------------

    def _write_head(self, top: _Open) -> None:
        """The start tag: name, bindings that are not in scope yet, attributes."""
        assert top.name is not None
        top.head = False
        outer = self._open[-2].scope if len(self._open) > 1 else {}
        if not (outer or top.bindings or top.name.uri or any(uri for uri, _ in top.attributes)):
            self._write_plain(top)
            return
        bound = _bound(top, outer)
        given = top.attributes.values()
        attributes = [(_prefixed(name, bound, top.inherited), value) for name, value in given]
        self._builder.start_element(self._id(*top.name))
        top.scope = {prefix: uri for prefix, uri in (top.inherited | bound).items() if uri}
        for prefix in sorted({*outer, *top.scope}):
            uri = top.scope.get(prefix, "")
            if outer.get(prefix, "") != uri:
                self._builder.namespace(prefix, uri)
        for name, value in attributes:
            self._builder.attribute(self._id(*name), value)

    def _write_plain(self, top: _Open) -> None:
        """A start tag without any namespace."""
        assert top.name is not None
        self._builder.start_element(self._id("", top.name.local, ""))
        for name, value in top.attributes.values():
            self._builder.attribute(self._id("", name.local, ""), value)


def _bound(top: _Open, outer: dict[str, str]) -> dict[str, str]:
    """The bindings of an element: the requested ones and the one of its own name."""
    assert top.name is not None
    bound, (prefix, _, uri) = top.bindings, top.name
    if prefix == "xml":
        return bound
    if bound.get(prefix, uri) != uri:
        raise error("XQDY0102", f"the prefix {prefix or '(default)'} is bound twice")
    if uri or outer.get(prefix):
        bound[prefix] = uri
    return bound


def _prefixed(name: StaticName, bound: dict[str, str], inherited: dict[str, str]) -> StaticName:
    """The attribute's name with a prefix that is bound to its namespace, now if not before."""
    if not name.uri or name.uri == XML_URI:
        return name._replace(prefix="xml" if name.uri else "")
    scope = inherited | bound
    if name.prefix and bound.get(name.prefix, name.uri) == name.uri:
        prefix = name.prefix
    else:
        known = (p for p, uri in scope.items() if p and uri == name.uri)
        prefix = next(known, None) or _fresh(name.prefix, scope)
    bound[prefix] = name.uri
    return name._replace(prefix=prefix)


def _fresh(wish: str, scope: dict[str, str]) -> str:
    stem, number = wish or "ns", 0
    while f"{stem}{'_' if wish else ''}{number}" in scope:
        number += 1
    return f"{stem}{'_' if wish else ''}{number}"
