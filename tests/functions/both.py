"""Expressions answered by our engine and by SaxonC-HE, in one form: (type, value) of every item."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from saxonche import PySaxonProcessor

from xstreamcast.api import query
from xstreamcast.errors import Error, QueryError
from xstreamcast.evaluate.results.results import records
from xstreamcast.model.atomic import ATOMIC

Shown = list[list[str]] | str  # the items, or "!CODE"

# SaxonC calls every xs:dateTime with a time zone an xs:dateTimeStamp.
_UNSEEN: Final = ("anyAtomicType", "NOTATION", "QName", "dateTimeStamp")
_NARROW: Final = [name for name in reversed(ATOMIC) if name not in _UNSEEN]
_PROLOG: Final = f"""
declare namespace err = "http://www.w3.org/2005/xqt-errors";
declare namespace output = "http://www.w3.org/2010/xslt-xquery-serialization";
declare function local:shown($v as item()*) {{ array {{ for $i in $v return array {{
  typeswitch ($i)
  case element() return ("element", serialize($i))
  case document-node() return ("document", serialize($i))
  case attribute() return ("attribute", string($i))
  case text() return ("text", string($i))
  case comment() return ("comment", string($i))
  case processing-instruction() return ("pi", string($i))
  case function(*) return ("function", "")
  case xs:QName return ("QName", "Q{{" || namespace-uri-from-QName($i) || "}}" || $i)
  {" ".join(f'case xs:{name} return ("{name}", string($i))' for name in _NARROW)}
  default return ("?", string($i))
}} }} }};
"""


@cache
def _saxon() -> PySaxonProcessor:
    return PySaxonProcessor(license=False)


def theirs(expressions: list[str], document: str | None = None) -> list[Shown]:
    """What SaxonC-HE gives; the document is the context item."""
    tried = (
        f'try {{ local:shown(({one})) }} catch * {{ "!" || local-name-from-QName($err:code) }}'
        for one in expressions
    )
    text = f'{_PROLOG} serialize(array {{ {", ".join(tried)} }}, map {{"method": "json"}})'
    asked = _saxon().new_xquery_processor()
    asked.set_query_content(text)
    if document is not None:
        asked.set_context(xdm_item=_saxon().parse_xml(xml_text=document))
    found: list[Shown] = json.loads(asked.run_query_to_value().head.string_value)
    return found


def ours(expression: str, document: str | None = None) -> Shown:
    """What we give for one expression."""
    prefix = 'declare namespace output = "http://www.w3.org/2010/xslt-xquery-serialization"; '
    try:
        answer = query(f"{prefix}({expression})").run(
            None if document is None else document.encode()
        )
        return [_pair(record) for record in records(answer.store, answer.items)]
    except QueryError as wrong:
        return f"!{wrong.qname[1] if wrong.qname else wrong.code}"
    except Error as wrong:
        return f"!{wrong.code}"


def _pair(record: dict[str, Any]) -> list[str]:
    if record.get("t") == "function":
        return ["function", ""]
    if "n" in record:
        return [record["n"], record.get("xml", record.get("v", ""))]
    kind, value = record["t"].removeprefix("xs:"), record["v"]
    if kind == "QName":
        return [kind, f"Q{{{record['ns']}}}{value}"]
    return ["dateTime" if kind == "dateTimeStamp" else kind, value]
