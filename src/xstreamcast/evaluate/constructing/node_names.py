"""Names of constructed nodes: computed per row, checked against what XML forbids."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import error
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.cast.convert import split_qname
from xstreamcast.model.atomic import PRIMITIVE, QNAME, STRING, UNTYPED, derives
from xstreamcast.model.xml_names import NCNAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Column

XML_URI: Final = "http://www.w3.org/XML/1998/namespace"
XMLNS_URI: Final = "http://www.w3.org/2000/xmlns/"
_BRACED: Final = re.compile(r"Q\{([^{}]*)\}(.*)", re.DOTALL)


def names(name: p.NodeName, frame: Frame, attribute: bool = False) -> Sequence[p.StaticName]:
    """The name for each row."""
    check = _attribute_name if attribute else _element_name
    if isinstance(name, p.StaticName):
        return [check(name)] * frame.n
    column = _one(evaluate(name.value, frame), frame, "the name of a node")
    scope = dict(name.scope)
    return [check(_name(tag, value, scope)) for tag, value in column.items.pairs()]


def _one(column: Column, frame: Frame, role: str) -> Column:
    column = atomize(frame.context.store, column)
    if not column.single:
        raise error("XPTY0004", f"{role} must be one item; got another number of items")
    return column


def _name(tag: int, value: object, scope: dict[str, str]) -> p.StaticName:
    if PRIMITIVE.get(tag) == QNAME:
        return p.StaticName(value.prefix, value.local, value.uri)  # type: ignore[attr-defined]
    if PRIMITIVE.get(tag) not in (STRING, UNTYPED):
        raise error("XPTY0004", "the name of a node must be a QName or a string; got another type")
    text = str(value).strip(" \t\r\n")
    braced = _BRACED.fullmatch(text)
    if braced and NCNAME.fullmatch(braced[2]):
        return p.StaticName("", braced[2], " ".join(braced[1].split()))
    parts = split_qname(text)
    if parts is None:
        raise error("XQDY0074", f"{text!r} is not a valid name")
    prefix, local = parts
    uri = XML_URI if prefix == "xml" else scope.get(prefix, "")
    if prefix and not uri:
        raise error("XQDY0074", f"no namespace is bound to the prefix {prefix}")
    return p.StaticName(prefix, local, uri)


def _element_name(name: p.StaticName) -> p.StaticName:
    if _reserved(name):
        raise error("XQDY0096")
    return name


def _attribute_name(name: p.StaticName) -> p.StaticName:
    if _reserved(name) or (not name.uri and name.local == "xmlns"):
        raise error("XQDY0044")
    return name


def _reserved(name: p.StaticName) -> bool:
    return (
        name.uri == XMLNS_URI
        or name.prefix == "xmlns"
        or (name.prefix == "xml" and name.uri != XML_URI)
        or (name.uri == XML_URI and name.prefix not in ("xml", ""))
    )


def targets(target: str | p.Expression, frame: Frame) -> list[str]:
    """The target of a processing instruction for each row."""
    if isinstance(target, str):
        return [_unreserved(target)] * frame.n
    column = _one(evaluate(target, frame), frame, "the name of a processing instruction")
    return [_target(tag, value) for tag, value in column.items.pairs()]


def _target(tag: int, value: object) -> str:
    if not (tag == UNTYPED or derives(tag, STRING)):
        raise error("XPTY0004", "the name of a processing instruction must be a string")
    text = str(value).strip(" \t\r\n")
    if not NCNAME.fullmatch(text):
        raise error("XQDY0041", f"{text!r} is not a valid name for a processing instruction")
    return _unreserved(text)


def _unreserved(target: str) -> str:
    if target.lower() == "xml":
        raise error("XQDY0064")
    return target


def prefixes(prefix: str | p.Expression, frame: Frame) -> list[str]:
    """The prefix of a namespace node for each row; the empty one is the default namespace."""
    if isinstance(prefix, str):
        return [prefix] * frame.n
    column = atomize(frame.context.store, evaluate(prefix, frame))
    if column.n and int(column.lengths().max()) > 1:
        raise error("XPTY0004", "the prefix of a namespace must be one item")
    out = np.full(frame.n, "", object)
    found = [_prefix(tag, value) for tag, value in column.items.pairs()]
    out[column.lengths() == 1] = found
    return list(out)


def _prefix(tag: int, value: object) -> str:
    if not (tag == UNTYPED or derives(tag, STRING)):
        raise error("XPTY0004", "the prefix of a namespace must be a string")
    text = str(value).strip(" \t\r\n")
    if text and not NCNAME.fullmatch(text):
        raise error("XQDY0074", f"{text!r} is not a valid prefix")
    return text


def checked_binding(prefix: str, uri: str) -> tuple[str, str]:
    """A binding that a namespace node may have."""
    wrong = (prefix == "xml") != (uri == XML_URI) or prefix == "xmlns" or uri == XMLNS_URI
    if wrong or not uri:
        raise error("XQDY0101", f"{prefix or 'the default namespace'} cannot be bound to {uri!r}")
    return prefix, uri
