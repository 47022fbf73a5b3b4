"""The elements of a DTD: content models as expat reads them."""

from __future__ import annotations

import re
from typing import Any, Final
from xml.parsers import expat
from xml.parsers.expat import model

from xstreamcast.edges.infer.graph import Element, Graph
from xstreamcast.errors import error
from xstreamcast.tape.expat.expat_errors import input_error

_REPEATED: Final = (model.XML_CQUANT_REP, model.XML_CQUANT_PLUS)
_TIME: Final = re.compile(r"(?:^|[-_.]|(?<=[a-z]))(?:date|time|datetime|timestamp)$", re.I)


def graph_of_dtd(dtd: bytes, name: str, root: str | None = None) -> Graph:
    """What the declarations allow; the root is named, or the element without a parent."""
    elements: dict[str, Element] = {}

    def declared(element: str, content: Any) -> None:
        made = elements.setdefault(element, Element("", element.rpartition(":")[2]))
        if content[0] == model.XML_CTYPE_ANY:
            raise error("XSCT0001", f"the content of {element} must be declared; got ANY")
        _collect(content, False, made.children)

    def attribute(element: str, attribute: str, *_: object) -> None:
        made = elements.setdefault(element, Element("", element.rpartition(":")[2]))
        if tells_time(attribute):
            made.times.append(f"@{attribute}")

    _parse(dtd, name, declared, attribute)
    if not elements:
        raise error("XSCT0001", f"{name} declares no elements")
    _undeclared(elements)
    for made in elements.values():
        leaves = (str(key) for key in made.children if not elements[str(key)].children)
        made.times += [leaf for leaf in leaves if tells_time(leaf)]
    return Graph(_root(elements, root, name), {key: made for key, made in elements.items()})


def tells_time(name: str) -> bool:
    """Whether a name is one that people give to instants."""
    return _TIME.search(name.rpartition(":")[2]) is not None


def _parse(dtd: bytes, name: str, declared: Any, attribute: Any) -> None:
    """Read the DTD as the external subset of a document made for it."""
    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
    parser.ElementDeclHandler, parser.AttlistDeclHandler = declared, attribute
    inner: list[Any] = []

    def external(context: str, _base: object, system: str | None, _public: object) -> int:
        if system != "this":
            raise error("XSCX0006", f"the DTD refers to {system}, which is not fetched")
        inner.append(parser.ExternalEntityParserCreate(context))
        inner[0].Parse(dtd, True)
        return 1

    parser.ExternalEntityRefHandler = external
    try:
        parser.Parse(b'<!DOCTYPE x SYSTEM "this"><x/>', True)
    except expat.ExpatError as said:
        at = inner[0].ErrorByteIndex if inner else 0
        raise input_error(said, at, dtd, name) from None


def _collect(content: Any, repeats: bool, found: dict[Any, bool]) -> None:
    """The names in a content model, and whether each may be there twice."""
    _, quantifier, name, inner = content
    repeats = repeats or quantifier in _REPEATED
    if name is not None:
        found[name] = repeats or name in found
    for part in inner:
        _collect(part, repeats, found)


def _undeclared(elements: dict[str, Element]) -> None:
    """Elements that are named but never declared have no content."""
    for made in list(elements.values()):
        for key in made.children:
            elements.setdefault(str(key), Element("", str(key).rpartition(":")[2]))


def _root(elements: dict[str, Element], wanted: str | None, name: str) -> str:
    if wanted is not None:
        if wanted not in elements:
            raise error("XSCU0001", f"{name} must declare the root {wanted}")
        return wanted
    inside = {key for made in elements.values() for key in made.children}
    free = [key for key in elements if key not in inside]
    return free[0] if free else next(iter(elements))
