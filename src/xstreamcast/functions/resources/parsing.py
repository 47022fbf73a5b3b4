"""XML in strings: parse-xml, parse-xml-fragment."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from xstreamcast.errors import InputError, error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import maybe, one_or
from xstreamcast.model.atomic import NODE
from xstreamcast.model.column import Column
from xstreamcast.tape.steps.axes import NodeTest
from xstreamcast.tape.writing.builder import Builder

_Q: Final = "(?:'[^'<]*'|\"[^\"<]*\")"
_DECLARATION: Final = re.compile(
    rf"(<\?xml\s+version\s*=\s*{_Q})\s+encoding\s*=\s*{_Q}((?:\s+standalone\s*=\s*{_Q})?\s*\?>)"
)
_TEXT_DECLARATION: Final = re.compile(
    r"<\?xml(\s+version\s*=\s*(?:'1\.[0-9]+'|\"1\.[0-9]+\"))?"
    r"\s+encoding\s*=\s*(?:'[A-Za-z][\w.\-]*'|\"[A-Za-z][\w.\-]*\")\s*\?>"
)


@function("fn:parse-xml($arg as xs:string?) as document-node(element(*))?")
def parse_xml(call: CallContext, arg: Column) -> Column:
    """The document that the string holds."""
    return maybe(NODE, (None if text is None else _document(call, text) for text in one_or(arg)))


def _document(call: CallContext, text: str) -> int:
    # A string has no encoding any more, whatever it declares.
    return _read(call, _DECLARATION.sub(r"\1\2", text, count=1))


def _read(call: CallContext, text: str) -> int:
    try:
        return int(call.store.read(text.encode()))
    except InputError as caught:
        raise error("FODC0006", f"the string is not a document: {caught.message}") from caught
    except UnicodeEncodeError as caught:
        raise error("FODC0006", "the string is not a document: it holds surrogates") from caught


@function("fn:parse-xml-fragment($arg as xs:string?) as document-node()?")
def parse_xml_fragment(call: CallContext, arg: Column) -> Column:
    """A document node with the text, elements and other nodes that the string holds."""
    return maybe(NODE, (None if text is None else _fragment(call, text) for text in one_or(arg)))


def _fragment(call: CallContext, text: str) -> int:
    declared = _TEXT_DECLARATION.match(text)
    content = text[declared.end() :] if declared else text
    wrapper = "w"
    while f"</{wrapper}" in content:  # content that closes the wrapper must not seem well-formed
        wrapper += "w"
    whole = _read(call, f"<{wrapper}>{content}</{wrapper}>")
    _, element = call.store.step(np.array([whole], np.int64), "child", NodeTest.element())
    _, children = call.store.step(element, "child", NodeTest.node())
    builder = Builder(call.store.names)
    builder.start_document()
    builder.copy_all(call.store, children)
    builder.end()
    number: int = call.store.add(builder.finish())
    call.store.drop(whole >> 32)
    return number << 32
