"""What independent processors say: SaxonC-HE and libxml2."""

from __future__ import annotations

from functools import cache
from typing import Any

from lxml import etree
from saxonche import PySaxonProcessor

_NAMESPACES = (
    'declare namespace map = "http://www.w3.org/2005/xpath-functions/map"; '
    'declare namespace output = "http://www.w3.org/2010/xslt-xquery-serialization"; '
)
_BETWEEN = "\U0010fffd"


@cache
def _saxon() -> Any:
    return PySaxonProcessor(license=False)


def saxon(query: str, xml: bytes | None = None, prolog: str = "", method: str = "xml") -> str:
    """The serialised answer of an XQuery over a document."""
    processor = _saxon().new_xquery_processor()
    if xml is not None:
        processor.set_context(xdm_item=_saxon().parse_xml(xml_text=xml.decode()))
    options = 'declare option output:omit-xml-declaration "yes"; '
    options += f'declare option output:method "{method}"; '
    processor.set_query_content(_NAMESPACES + prolog + options + query)
    answer = str(processor.run_query_to_string() or "")
    # SaxonC writes a CR in white space as it is; any reader would take it for a line end.
    return answer.replace("\r", "&#xD;") if method == "xml" else answer


def saxon_texts(query: str, xml: bytes | None = None, prolog: str = "") -> list[str]:
    """The strings that an XQuery gives, each as it is."""
    joined = f"string-join(({query}) ! (string(.) || '{_BETWEEN}'))"
    return saxon(joined, xml, prolog, "text").split(_BETWEEN)[:-1]


def canonical(xml: bytes, exclusive: bool = False) -> bytes:
    """The document in canonical form, as libxml2 writes it; exclusive: only namespaces in use."""
    parser = etree.XMLParser(attribute_defaults=True, resolve_entities=True, no_network=True)
    tree = etree.fromstring(xml, parser).getroottree()
    written: bytes = etree.tostring(tree, method="c14n", exclusive=exclusive)
    return written
