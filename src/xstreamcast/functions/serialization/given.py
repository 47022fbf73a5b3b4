"""Serialisation parameters as an element, a map, or the declarations of a prolog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.errors import Error, error
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast import string_value
from xstreamcast.functions.serialization.parameters import (
    ALL,
    NAMED,
    READ,
    Names,
    Parameters,
    checked,
)
from xstreamcast.functions.signature import OUTPUT
from xstreamcast.model.atomic import (
    BOOLEAN,
    DECIMAL,
    MAP,
    NODE,
    QNAME,
    STRING,
    UNTYPED,
    derives,
)
from xstreamcast.model.column import Column, gather
from xstreamcast.tape.layout import ELEMENT
from xstreamcast.tape.steps.axes import NodeTest

if TYPE_CHECKING:
    from xstreamcast.model.map_item import MapItem

_BOOLEAN: Final = frozenset(
    {"allow-duplicate-names", "byte-order-mark", "escape-uri-attributes", "include-content-type"}
    | {"indent", "omit-xml-declaration", "undeclare-prefixes", "standalone"}
)
_NUMBERS: Final = frozenset({"html-version"})


# -- an element ------------------------------------------------------------------------------


def of_element(call: CallContext, element: int, made: Parameters) -> Parameters:
    """The parameters that an output:serialization-parameters element sets."""
    _check_root(call, element)
    seen: set[tuple[str, str]] = set()
    changes: dict[str, Any] = {}
    _, children = call.store.step(np.array([element], np.int64), "child", NodeTest.element())
    for child in children.tolist():
        uri, local = _name(call, child)
        if (uri, local) in seen:
            raise error("SEPM0019", f"{local} is given twice")
        seen.add((uri, local))
        if uri not in ("", OUTPUT):
            continue
        if uri == "" or local not in ALL:
            raise error("SEPM0017", f"there is no serialisation parameter {local}")
        changes[local.replace("-", "_")] = _setting(call, child, local)
    return checked(replace(made, **changes))


def _check_root(call: CallContext, element: int) -> None:
    node = np.array([element], np.int64)
    name = _name(call, element) if call.store.kinds(node)[0] == ELEMENT else None
    if name != (OUTPUT, "serialization-parameters"):
        raise error("XPTY0004", "the parameters must be an output:serialization-parameters element")
    if any(uri in ("", OUTPUT) for uri, _ in _attributes(call, element)):
        raise error("SEPM0017", "output:serialization-parameters must not have attributes")


def _name(call: CallContext, node: int) -> tuple[str, str]:
    number = int(call.store.name_ids(np.array([node], np.int64))[0])
    _, local, uri = call.store.names.qname(number)
    return uri, local


def _attributes(call: CallContext, node: int) -> dict[tuple[str, str], str]:
    _, found = call.store.step(np.array([node], np.int64), "attribute", NodeTest.node())
    return {_name(call, one): str(call.store.strings(np.array([one]))[0]) for one in found.tolist()}


def _setting(call: CallContext, child: int, local: str) -> Any:
    given = _attributes(call, child)
    if local == "use-character-maps":
        if any(uri == "" for uri, _ in given):
            raise error("SEPM0017", "use-character-maps must have no attribute")
        return _character_map(call, child)
    if ("", "value") not in given or any(n[0] == "" and n[1] != "value" for n in given):
        raise error("SEPM0017", f"{local} must have an attribute value and no other")
    _, inside = call.store.step(np.array([child], np.int64), "child", NodeTest.element())
    if len(inside):
        raise error("SEPM0017", f"{local} must be empty")
    value = given["", "value"]
    if local in NAMED:
        return _names(value, call.store.in_scope_namespaces(child))
    try:
        return READ[local](value)
    except Error as caught:
        if caught.code == "SEPM0016":
            raise error("SEPM0017", caught.message) from caught
        raise


def _character_map(call: CallContext, node: int) -> dict[str, str]:
    made: dict[str, str] = {}
    _, children = call.store.step(np.array([node], np.int64), "child", NodeTest.element())
    for child in children.tolist():
        if _name(call, child) != (OUTPUT, "character-map"):
            raise error("SEPM0017", "use-character-maps must hold character-map elements")
        given = _attributes(call, child)
        own = {local for uri, local in given if uri == ""}
        if own != {"character", "map-string"}:
            raise error("SEPM0017", "a character-map must have character and map-string")
        char = given["", "character"]
        if len(char) != 1:
            raise error("SEPM0017", f"character must be one character; got {char!r}")
        if char in made:
            raise error("SEPM0018", f"the character {char!r} is mapped twice")
        made[char] = given["", "map-string"]
    return made


def _names(value: str, prefixes: Mapping[str, str]) -> Names:
    """Lexical QNames and Q{uri}local, separated by white space."""
    found = set()
    for word in value.split():
        if word.startswith("Q{"):
            uri, _, local = word[2:].partition("}")
            found.add((uri, local))
            continue
        prefix, _, local = word.rpartition(":")
        if prefix and prefix not in prefixes:
            raise error("SEPM0017", f"no namespace is bound to the prefix {prefix}")
        found.add((prefixes.get(prefix, ""), local))
    return frozenset(found)


# -- a map -----------------------------------------------------------------------------------


def of_map(call: CallContext, given: MapItem, made: Parameters) -> Parameters:
    """The parameters that a map sets; () sets the default."""
    changes: dict[str, Any] = {}
    for (tag, key), column, row in given.entries():
        if not derives(tag, STRING) or key not in ALL:
            continue
        value = gather([(column, row)])
        if key == "use-character-maps":
            changes["use_character_maps"] = _mapped(value)
            continue
        atoms = list(atomize(call, value).items.pairs())
        if key in NAMED:
            changes[key.replace("-", "_")] = _qnames(key, atoms)
        elif atoms:
            changes[key.replace("-", "_")] = _read(key, atoms)
    return checked(replace(made, **changes))


def _unfit(key: str, wanted: str) -> Error:
    return error("XPTY0004", f"the serialisation parameter {key} must be {wanted}")


def _qnames(key: str, atoms: list[tuple[int, Any]]) -> Names:
    if not all(derives(tag, QNAME) for tag, _ in atoms):
        raise _unfit(key, "xs:QName*")
    return frozenset((value.uri, value.local) for _, value in atoms)


def _read(key: str, atoms: list[tuple[int, Any]]) -> Any:
    if len(atoms) > 1:
        raise _unfit(key, "one value")
    ((tag, value),) = atoms
    if key in _BOOLEAN:
        if tag == UNTYPED:
            return READ[key](value)
        if not derives(tag, BOOLEAN):
            raise _unfit(key, "xs:boolean")
        return bool(value)
    if key in _NUMBERS:
        if not derives(tag, DECIMAL) and tag != UNTYPED:
            raise _unfit(key, "xs:decimal")
        return READ[key](str(value))
    if derives(tag, QNAME) and key in ("method", "json-node-output-method"):
        return READ[key](value.local if not value.uri else value.eqname)
    if not derives(tag, STRING) and tag != UNTYPED:
        raise _unfit(key, "xs:string")
    return READ[key](string_value(tag, value))


def _mapped(value: Column) -> dict[str, str]:
    if len(value.items) == 0:
        return {}
    if len(value.items) != 1 or value.items.tag != MAP:
        raise _unfit("use-character-maps", "a map")
    made: dict[str, str] = {}
    for (tag, char), column, row in value.items.values[0].entries():
        texts = list(gather([(column, row)]).items.pairs())
        if not derives(tag, STRING) or len(texts) != 1 or not derives(texts[0][0], STRING):
            raise _unfit("use-character-maps", "a map from strings to strings")
        if len(char) != 1:
            raise error("SEPM0016", f"a key of use-character-maps is one character; got {char!r}")
        made[char] = texts[0][1]
    return made


def of_argument(call: CallContext, given: Any, tag: int) -> Parameters:
    """The parameters in the second argument of fn:serialize."""
    if tag == NODE:
        return of_element(call, given, Parameters())
    if tag == MAP:
        return of_map(call, given, Parameters())
    raise error("XPTY0004", "the parameters must be an element or a map")
