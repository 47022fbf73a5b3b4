"""Serialisation parameters: the complete set, and how each is parsed."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final

from xstreamcast.errors import error
from xstreamcast.functions.signature import XSC
from xstreamcast.model.frozen import dataclass

Names = frozenset[tuple[str, str]]  # (namespace, local) of elements

CANONICAL: Final = "xsc:canonical"  # a method of our own: canonical XML
METHODS: Final = ("xml", "html", "xhtml", "text", "json", "adaptive")


@dataclass(frozen=True, slots=True)
class Parameters:
    """All serialisation parameters; the defaults are those of fn:serialize."""

    method: str = "xml"
    version: str | None = None
    html_version: str | None = None
    encoding: str = "UTF-8"
    omit_xml_declaration: bool = True
    standalone: bool | None = None
    undeclare_prefixes: bool = False
    doctype_public: str | None = None
    doctype_system: str | None = None
    item_separator: str | None = None
    normalization_form: str = "none"
    indent: bool = False
    cdata_section_elements: Names = frozenset()
    suppress_indentation: Names = frozenset()
    use_character_maps: Mapping[str, str] = field(default_factory=dict)
    escape_uri_attributes: bool = True
    include_content_type: bool = True
    media_type: str | None = None
    byte_order_mark: bool = False
    json_node_output_method: str = "xml"
    allow_duplicate_names: bool = False

    @property
    def xml_version(self) -> str:
        return self.version or "1.0"

    @property
    def html5(self) -> bool:
        """Whether HTML is written as HTML5, the default unless an older version is named."""
        named = self.html_version or (self.version if self.method == "html" else None)
        return named is None or float(named) >= 5


def one_of(name: str, *allowed: str) -> Callable[[str], str]:
    """A parameter with a few values (SEPM0016)."""

    def read(value: str) -> str:
        if value.strip() not in allowed:
            raise error("SEPM0016", f"{name} must be {' or '.join(allowed)}; got {value}")
        return value.strip()

    return read


def truth(value: str) -> bool:
    """yes or no (SEPM0016)."""
    known = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if value.strip() not in known:
        raise error("SEPM0016", f"the value must be yes or no; got {value}")
    return known[value.strip()]


def _standalone(value: str) -> bool | None:
    return None if value.strip() == "omit" else truth(value)


def _public(value: str) -> str:
    if not re.fullmatch(r"[ \r\na-zA-Z0-9\-'()+,./:=?;!*#@$_%]*", value):
        raise error("SEPM0016", f"doctype-public is not a public identifier: {value}")
    return value


def _system(value: str) -> str:
    if "'" in value and '"' in value:
        raise error("SEPM0016", "doctype-system must not hold both kinds of quotes")
    return value


def _encoding(value: str) -> str:
    name = value.strip()
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9._\-]*", name):
        raise error("SEPM0016", f"{value!r} is not the name of an encoding")
    try:
        codecs.lookup(name)
    except LookupError as caught:
        raise error("SESU0007", f"the encoding {name} is not supported") from caught
    return name


def _html_version(value: str) -> str:
    if not re.fullmatch(r"\s*[0-9]+(\.[0-9]+)?\s*", value):
        raise error("SEPM0016", f"html-version must be a number; got {value}")
    return value.strip()


def method(value: str) -> str:
    """A method by name; others than the known ones must have a namespace."""
    name = value.strip().removeprefix("Q{}")
    if name in (CANONICAL, f"Q{{{XSC}}}canonical"):
        return CANONICAL
    if name not in METHODS:
        code = "SESU0007" if name.startswith("Q{") or ":" in name else "SEPM0016"
        raise error(code, f"the method must be one of {', '.join(METHODS)}; got {value}")
    return name


def _form(value: str) -> str:
    name = value.strip()
    if name in ("none", "NFC", "NFD", "NFKC", "NFKD"):
        return name
    if name == "fully-normalized":
        raise error("SESU0011", "the normalisation form fully-normalized is not supported")
    if not re.fullmatch(r"[^\s]+", name):
        raise error("SEPM0016", f"{value!r} is not the name of a normalisation form")
    raise error("SESU0011", f"the normalisation form {name} is not supported")


READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "allow-duplicate-names": truth,
    "byte-order-mark": truth,
    "doctype-public": _public,
    "doctype-system": _system,
    "encoding": _encoding,
    "escape-uri-attributes": truth,
    "html-version": _html_version,
    "include-content-type": truth,
    "indent": truth,
    "item-separator": str,
    "json-node-output-method": one_of("json-node-output-method", "xml", "html", "xhtml", "text"),
    "media-type": str,
    "method": method,
    "normalization-form": _form,
    "omit-xml-declaration": truth,
    "standalone": _standalone,
    "undeclare-prefixes": truth,
    "version": str.strip,
}
NAMED: Final = frozenset({"cdata-section-elements", "suppress-indentation"})
ALL: Final = frozenset(READ) | NAMED | {"use-character-maps"}


def checked(made: Parameters) -> Parameters:
    """The parameters, if they do not contradict each other."""
    if made.method in ("xml", "xhtml"):
        if made.version not in (None, "1.0", "1.1"):
            raise error("SESU0013", f"the version of XML must be 1.0 or 1.1; got {made.version}")
        if made.omit_xml_declaration and made.standalone is not None:
            raise error("SEPM0009")
        if made.omit_xml_declaration and made.version == "1.1" and made.doctype_system is not None:
            raise error("SEPM0009")
        if made.undeclare_prefixes and made.xml_version == "1.0" and made.method == "xml":
            raise error("SEPM0010")
    if made.method == "html":
        named = made.html_version or made.version
        if named is not None and not re.fullmatch(r"[345](\.[0-9]+)?", named):
            raise error("SESU0013", f"the version of HTML must be 4 or 5; got {named}")
    return made
