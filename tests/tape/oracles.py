"""What independent processors say: SaxonC-HE and libxml2."""

from __future__ import annotations

from functools import cache
from typing import Any

from lxml import etree
from saxonche import PySaxonProcessor

_PROLOG = (
    'declare namespace map = "http://www.w3.org/2005/xpath-functions/map"; '
    'declare namespace output = "http://www.w3.org/2010/xslt-xquery-serialization"; '
    'declare option output:omit-xml-declaration "yes"; '
)
_BETWEEN = "\U0010fffd"


@cache
def _saxon() -> Any:
    return PySaxonProcessor(license=False)


def saxon(query: str, xml: bytes | None = None, prolog: str = "") -> str:
    """The serialised answer of an XQuery over a document."""
    processor = _saxon().new_xquery_processor()
    if xml is not None:
        processor.set_context(xdm_item=_saxon().parse_xml(xml_text=xml.decode()))
    processor.set_query_content(_PROLOG + prolog + query)
    answer = processor.run_query_to_string()
    return str(answer or "")


def saxon_texts(query: str, xml: bytes | None = None, prolog: str = "") -> list[str]:
    """The strings that an XQuery gives, each as it is."""
    prolog = 'declare option output:method "text"; ' + prolog
    joined = f"string-join(({query}) ! (string(.) || '{_BETWEEN}'))"
    return saxon(joined, xml, prolog).split(_BETWEEN)[:-1]


def canonical(xml: bytes) -> bytes:
    """The document in canonical form, as libxml2 writes it."""
    parser = etree.XMLParser(resolve_entities=True, load_dtd=False, no_network=True)
    written: bytes = etree.tostring(etree.fromstring(xml, parser).getroottree(), method="c14n")
    return written
