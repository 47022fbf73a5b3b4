"""One query over one document, asked of SaxonC-HE and of us, answered in the same form."""

from __future__ import annotations

import re
from functools import cache

from saxonche import PySaxonApiError, PySaxonProcessor, PyXdmItem

from xstreamcast.api import query
from xstreamcast.errors import Error
from xstreamcast.evaluate.results.results import records

Answer = list[str]  # an item each: "type value" or XML; or one "!CODE"

_CODE = re.compile(r"\b((?:XP|XQ)[A-Z]{2}\d{4}|F[A-Z]{3}\d{4})\b")


# Messages of the oracle that come without their code, by their first word.
_UNCODED = {"Cannot": "FORG0001"}


@cache
def _saxon() -> PySaxonProcessor:
    return PySaxonProcessor(license=False)


def theirs(text: str, document: str) -> Answer:
    """What SaxonC-HE answers."""
    processor = _saxon().new_xquery_processor()
    try:
        if document:
            processor.set_context(xdm_item=_saxon().parse_xml(xml_text=document))
        processor.set_query_content(text)
        value = processor.run_query_to_value()
    except PySaxonApiError as caught:
        found = _CODE.search(str(caught))
        return [f"!{found[1] if found else _UNCODED[str(caught).split()[0]]}"]
    return [] if value is None else [_shown(value.item_at(i)) for i in range(value.size)]


def _shown(item: PyXdmItem) -> str:
    if item.is_atomic:
        atom = item.get_atomic_value()
        name = atom.primitive_type_name.rpartition("}")[2].removeprefix("xs:")
        return f"{name} {atom.string_value}"
    node = item.get_node_value()
    kind = str(node.node_kind_str).replace("processing-instruction", "pi")
    if kind in ("element", "document"):
        # It indents what it prints; generated documents have no white space of their own there.
        bare = re.sub(r"\s*<\?xml.*?\?>\s*", "", str(node.to_string()))
        return re.sub(r">\s+<", "><", bare)
    return f"{kind} {node.local_name or ''}={node.string_value}"


def ours(text: str, document: str) -> Answer:
    """What we answer."""
    try:
        asked = query(text)
        answer = asked.run(document.encode()) if document else asked.run()
        return [_record(record) for record in records(answer.store, answer.items)]
    except Error as caught:
        return [f"!{caught.code}"]


def _record(record: dict[str, str]) -> str:
    if "t" in record:
        return f"{record['t'].removeprefix('xs:')} {record['v']}"
    if "xml" in record:
        return record["xml"]
    return f"{record['n']} {record.get('name', '')}={record['v']}"
