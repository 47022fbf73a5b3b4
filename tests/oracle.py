"""The oracle: SaxonC-HE runs the translation of a query over files of fragments."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from xstreamcast.algebra.translate import Strategy, translate
from xstreamcast.algebra.translate.words import XSC, stream_name
from xstreamcast.edges.structures import read_structure
from xstreamcast.model.structure import TagStructure
from xstreamcast.syntax import parse

# One string for each item: nodes as XML without added white space.
_LINES = """
declare variable $items external;
for $item in $items
return typeswitch ($item)
  case attribute() return concat(name($item), '="', $item, '"')
  case namespace-node() return string($item)
  case node() return serialize($item, map { "method": "xml", "indent": false() })
  default return string($item)
"""

STRATEGIES: tuple[Strategy, ...] = ("caq", "qac", "qac+")


class Saxon:
    """One processor for all questions: starting it is the slow part."""

    def __init__(self) -> None:
        from saxonche import PySaxonProcessor

        self.processor = PySaxonProcessor(license=False)

    def run(self, text: str, documents: Mapping[str, bytes], **clock: str | None) -> list[str]:
        """The items of a translation's answer."""
        asked = self.processor.new_xquery_processor()
        for name, wire in documents.items():
            document = self.processor.parse_xml(xml_text=wire.decode())
            asked.set_parameter(f"{{{XSC}}}{stream_name(name)}", document)
        for word, instant in clock.items():
            if instant is not None:
                asked.set_parameter(f"{{{XSC}}}{word}", self._instant(instant))
        asked.set_query_content(text)
        found = asked.run_query_to_value()
        return [] if found is None else self.lines(found)

    def _instant(self, text: str) -> Any:
        made = self.processor.new_xquery_processor()
        made.set_query_content(f'xs:dateTime("{text}")')
        return made.run_query_to_value()

    def lines(self, items: Any) -> list[str]:
        written = self.processor.new_xquery_processor()
        written.set_parameter("items", items)
        written.set_query_content(_LINES)
        found = written.run_query_to_value()
        size = found.size if found is not None else 0
        return [canonical(str(found.item_at(i).get_string_value())) for i in range(size)]


@cache
def saxon() -> Saxon:
    """The processor."""
    return Saxon()


def answer(
    query: str,
    streams: Mapping[str, bytes],
    now: str | None = None,
    as_of: str | None = None,
    strategy: Strategy = "caq",
    definitions: str = "",
    between: tuple[str, str] | None = None,
) -> list[str]:
    """The items of the answer, as XML in canonical form or as strings."""
    since, until = between or (None, as_of)
    known = tuple(sorted(streams.items()))
    # a message time may stand before what is valid last, or an end after it: states are planned
    ahead = (b"messageTime", b"validTo")
    planned = until is None and any(word in wire for wire in streams.values() for word in ahead)
    planned = planned or now is not None
    text = translated(query, strategy, known, definitions, planned, between is not None)
    return saxon().run(text, streams, now=until or now, since=since, until=until)


def over_documents(query: str, documents: Mapping[str, bytes]) -> list[str]:
    """The items of the answer where streams are documents without fragments: variables for it."""
    oracle, head = saxon(), ""
    asked = oracle.processor.new_xquery_processor()
    for name, text in documents.items():
        query = query.replace(f'stream("{name}")', f"$document-{name}")
        head += f"declare variable $document-{name} external;"
        document = oracle.processor.parse_xml(xml_text=text.decode())
        asked.set_parameter(f"document-{name}", document)
    asked.set_query_content(head + query)
    found = asked.run_query_to_value()
    return [] if found is None else oracle.lines(found)


@cache
def translated(
    query: str,
    strategy: Strategy,
    streams: tuple[tuple[str, bytes], ...],
    definitions: str,
    planned: bool = False,
    between: bool = False,
) -> str:
    """The translation; the structures are those that the streams begin with."""
    structures = {name: structure(wire) for name, wire in streams}
    return translate(
        parse(query), strategy, structures, definitions, planned=planned, between=between
    )


@cache
def structure(wire: bytes) -> TagStructure:
    """The structure that a file of fragments told last."""
    begin, end = wire.rindex(b"<stream:structure"), wire.rindex(b"</stream:structure>")
    return read_structure(wire[begin:end] + b"</stream:structure>")


def canonical(xml: str) -> str:
    """One spelling for all ways to write nodes; what is no XML stays as it is."""
    from lxml import etree

    try:
        root = etree.fromstring(f"<line>{xml}</line>".encode())
    except etree.XMLSyntaxError:
        return xml
    return etree.tostring(root, method="c14n", exclusive=True).decode()[6:-7]
