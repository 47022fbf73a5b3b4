"""Namespaces every query knows, and those in which a query may declare nothing."""

from __future__ import annotations

from typing import Final

from xstreamcast.functions.signature import ARRAY_URI, ERR, FN, LOCAL, MAP_URI, MATH, XS, XSC

XML: Final = "http://www.w3.org/XML/1998/namespace"
XMLNS: Final = "http://www.w3.org/2000/xmlns/"
XSI: Final = "http://www.w3.org/2001/XMLSchema-instance"
XQUERY: Final = "http://www.w3.org/2012/xquery"
OUTPUT: Final = "http://www.w3.org/2010/xslt-xquery-serialization"
MAP: Final = MAP_URI
ARRAY: Final = ARRAY_URI

# What XQuery 3.1 predeclares, and the two that its tests and our functions rely on.
PREDECLARED: Final = {
    "xml": XML,
    "xs": XS,
    "xsi": XSI,
    "fn": FN,
    "local": LOCAL,
    "math": MATH,
    "map": MAP,
    "array": ARRAY,
    "err": ERR,
    "xsc": XSC,
    "output": OUTPUT,
}

# Namespaces in which no module may declare a function or an annotation (XQST0045).
RESERVED: Final = frozenset({XML, XS, XSI, FN, MATH, MAP, ARRAY, XQUERY})


def collapsed(text: str) -> str:
    """White space as xs:anyURI has it: none around, single spaces within."""
    return " ".join(text.split())
