"""The text before the first element: the XML declaration and the document type."""

from __future__ import annotations

from xstreamcast.errors import error
from xstreamcast.functions.serialization.markup import XHTML
from xstreamcast.functions.serialization.parameters import Parameters
from xstreamcast.functions.serialization.tree import Branch
from xstreamcast.tape.layout import DOCUMENT, ELEMENT, TEXT


def prolog(parameters: Parameters, roots: list[Branch]) -> str:
    """XML declaration and document type, as far as they are parameters for."""
    top = [node for root in roots for node in (root.children if root.kind == DOCUMENT else [root])]
    if parameters.method == "html":
        return _html(parameters, top)
    if parameters.standalone is not None or parameters.doctype_system is not None:
        _check_document(top)
    head = "" if parameters.omit_xml_declaration else _declaration(parameters)
    root = next((node for node in top if node.kind == ELEMENT), None)
    if root is None:
        return head
    if parameters.doctype_system is None:
        html5 = (
            parameters.method == "xhtml"
            and parameters.html5
            and parameters.html_version is not None
        )
        is_html = root.uri in ("", XHTML) and root.local.lower() == "html"
        return f"{head}<!DOCTYPE {root.local}>" if html5 and is_html else head
    return head + _doctype(parameters, root.local if parameters.method == "xhtml" else root.name)


def _doctype(parameters: Parameters, name: str) -> str:
    public = (
        f'PUBLIC "{parameters.doctype_public}"'
        if parameters.doctype_public is not None
        else "SYSTEM"
    )
    system = parameters.doctype_system or ""
    quote = "'" if '"' in system else '"'
    return f"<!DOCTYPE {name} {public} {quote}{system}{quote}>"


def _html(parameters: Parameters, top: list[Branch]) -> str:
    root = next((node for node in top if node.kind == ELEMENT), None)
    if root is None:
        return ""
    if parameters.doctype_system is not None:
        return _doctype(parameters, root.local)
    if parameters.doctype_public is not None:
        return f'<!DOCTYPE {root.local} PUBLIC "{parameters.doctype_public}">'
    is_html = root.local.lower() == "html" and root.uri in ("", XHTML)
    return f"<!DOCTYPE {root.local}>" if parameters.html5 and is_html else ""


def _declaration(parameters: Parameters) -> str:
    alone = "" if parameters.standalone is None else f' standalone="{_yes(parameters.standalone)}"'
    return f'<?xml version="{parameters.xml_version}" encoding="{parameters.encoding}"{alone}?>'


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"


def _check_document(top: list[Branch]) -> None:
    """One element, no text: SEPM0004."""
    kinds = [node.kind for node in top]
    if kinds.count(ELEMENT) != 1 or TEXT in kinds:
        raise error("SEPM0004")
