"""Serialisation parameters: what an output:serialization-parameters element says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, Final

import numpy as np

from xstreamcast.errors import Error, error
from xstreamcast.functions.call import Call
from xstreamcast.functions.signature import OUTPUT
from xstreamcast.model.frozen import dataclass
from xstreamcast.tape.layout import ELEMENT
from xstreamcast.tape.steps import NodeTest


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters that change what the methods xml and text write into a string."""

    method: str = "xml"
    version: str = "1.0"
    encoding: str = "UTF-8"
    omit_xml_declaration: bool = True
    standalone: bool | None = None
    undeclare_prefixes: bool = False
    doctype_public: str | None = None
    doctype_system: str | None = None
    item_separator: str | None = None
    normalization_form: str = "none"


def _choice(name: str, *allowed: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value.strip() not in allowed:
            raise error("SEPM0016", f"{name} must be {' or '.join(allowed)} here; got {value}")
        return value.strip()

    return read


def _truth(value: str) -> bool:
    known = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if value.strip() not in known:
        raise error("SEPM0017", f"the value must be yes or no; got {value}")
    return known[value.strip()]


def _standalone(value: str) -> bool | None:
    return None if value.strip() == "omit" else _truth(value)


def _version(value: str) -> str:
    if value.strip() not in ("1.0", "1.1"):
        raise error("SESU0013", f"the version of XML must be 1.0 or 1.1; got {value}")
    return value.strip()


def _public(value: str) -> str:
    if not re.fullmatch(r"[ \r\na-zA-Z0-9\-'()+,./:=?;!*#@$_%]*", value):
        raise error("SEPM0016", f"doctype-public is not a public identifier: {value}")
    return value


def _system(value: str) -> str:
    if "'" in value and '"' in value:
        raise error("SEPM0016", "doctype-system must not hold both kinds of quotes")
    return value


_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "method": _choice("method", "xml", "text"),
    "version": _version,
    "encoding": str.strip,
    "omit-xml-declaration": _truth,
    "standalone": _standalone,
    "undeclare-prefixes": _truth,
    "doctype-public": _public,
    "doctype-system": _system,
    "item-separator": str,
    "normalization-form": _choice("normalization-form", "none", "NFC", "NFD", "NFKC", "NFKD"),
}
# Read and checked, but without effect on a string of XML or text: white space that `indent` may
# add, need not be added.
_IDLE: Final[Mapping[str, Callable[[str], Any]]] = {
    "allow-duplicate-names": _truth,
    "byte-order-mark": _truth,
    "escape-uri-attributes": _truth,
    "html-version": str,
    "include-content-type": _truth,
    "indent": _truth,
    "json-node-output-method": str,
    "media-type": str,
    "suppress-indentation": str,
}
_ABSENT: Final = ("cdata-section-elements", "use-character-maps")


def parameters_of(call: Call, element: int) -> Parameters:
    """The parameters that the element sets; XPTY0004, SEPM0017, SEPM0019."""
    _check_root(call, element)
    given: dict[str, str] = {}
    _, children = call.store.step(np.array([element], np.int64), "child", NodeTest.element())
    for child in children.tolist():
        local, value = _setting(call, child)
        if local in given:
            raise error("SEPM0019", f"{local} is given twice")
        if local:
            given[local] = value
    known = {name: read(given[name]) for name, read in {**_READ, **_IDLE}.items() if name in given}
    names = {one.name for one in fields(Parameters)}
    changes = {key.replace("-", "_"): value for key, value in known.items()}
    return _checked(replace(Parameters(), **{k: v for k, v in changes.items() if k in names}))


def _check_root(call: Call, element: int) -> None:
    node = np.array([element], np.int64)
    name = _name(call, element) if call.store.kinds(node)[0] == ELEMENT else None
    if name != (OUTPUT, "serialization-parameters"):
        raise error("XPTY0004", "the parameters must be an output:serialization-parameters element")
    _, attributes = call.store.step(node, "attribute", NodeTest.node())
    if any(_name(call, one)[0] in ("", OUTPUT) for one in attributes.tolist()):
        raise error("SEPM0017", "output:serialization-parameters must not have attributes")


def _name(call: Call, node: int) -> tuple[str, str]:
    number = int(call.store.name_ids(np.array([node], np.int64))[0])
    _, local, uri = call.store.names.qname(number)
    return uri, local


def _setting(call: Call, child: int) -> tuple[str, str]:
    """(name, value) of one parameter; the name is "" for one that belongs to others."""
    uri, local = _name(call, child)
    if uri not in ("", OUTPUT):
        return "", ""
    if uri == "" or local not in {*_READ, *_IDLE, *_ABSENT}:
        raise error("SEPM0017", f"there is no serialisation parameter {local}")
    if local in _ABSENT:
        raise _unsupported(local)
    node = np.array([child], np.int64)
    _, attributes = call.store.step(node, "attribute", NodeTest.node())
    named = {_name(call, one): one for one in attributes.tolist()}
    if ("", "value") not in named or any(n[0] == "" and n[1] != "value" for n in named):
        raise error("SEPM0017", f"{local} must have an attribute value and no other")
    found = np.array([named["", "value"]], np.int64)
    return local, str(call.store.strings(found)[0])


def _unsupported(local: str) -> Error:
    return error("XSCS0001", f"the serialisation parameter {local} is not supported", static=False)


def _checked(made: Parameters) -> Parameters:
    if made.method == "xml" and made.omit_xml_declaration and made.standalone is not None:
        raise error("SEPM0009")
    if made.undeclare_prefixes and made.version == "1.0":
        raise error("SEPM0010")
    return made
