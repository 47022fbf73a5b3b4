"""Functions that escape strings for addresses."""

from __future__ import annotations

from urllib.parse import quote

from xstreamcast.functions.call import CallContext
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import one_or, text
from xstreamcast.model.column import Column


@function("fn:encode-for-uri($part as xs:string?) as xs:string", doc="Escaped for a URI's part.")
def encode_for_uri(call: CallContext, part: Column) -> Column:
    return text(quote(value, safe="~") for value in one_or(part, ""))


@function("fn:iri-to-uri($iri as xs:string?) as xs:string", doc="An IRI as a URI.")
def iri_to_uri(call: CallContext, iri: Column) -> Column:
    return text(quote(value, safe="!#$%&'()*+,/:;=?@[]~") for value in one_or(iri, ""))


@function("fn:escape-html-uri($uri as xs:string?) as xs:string", doc="As HTML user agents do.")
def escape_html_uri(call: CallContext, uri: Column) -> Column:
    return text(
        "".join(char if " " <= char <= "~" else quote(char) for char in value)
        for value in one_or(uri, "")
    )
