"""A query: version, prolog, body."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from xstreamcast.errors import Source
from xstreamcast.model.xml_names import NOT_XML
from xstreamcast.syntax.grammar import expressions, prolog
from xstreamcast.syntax.grammar.names import ncname, string, uri_literal
from xstreamcast.syntax.lexing import MAX_DEPTH, OPERATOR_WORDS, Cursor
from xstreamcast.syntax.tree import ContextItemDecl, LibraryModule, Module, VersionDecl

_VERSIONS: Final = ("1.0", "3.0", "3.1")
_ENCODING: Final = re.compile(r"[A-Za-z][A-Za-z0-9._\-]*")
_BINDING: Final = re.compile(r"(?<![\w$-])(for|let|some|every)\s+$")
_LAST_WORD: Final = re.compile(r"(?<![\w$-])([A-Za-z]+)\s+$")
_BEFORE_DOLLAR: Final = ("for", "let", "some", "every")
_BEFORE_WORD: Final = {
    **dict.fromkeys(("variable", "function", "option", "stream", "context"), ("declare",)),
    **dict.fromkeys(("namespace", "default"), ("declare",)),
    **dict.fromkeys(("module", "schema"), ("import",)),
}
_FRAMES: Final = 48  # Python frames of one level of nesting, every precedence level in use


def parse(text: str, name: str = "query") -> Module:
    """The tree of a query text; spans count in its text with line ends as `\\n`."""
    source = Source(name, text.replace("\r\n", "\n").replace("\r", "\n"))
    cur = Cursor(source)
    if odd := NOT_XML.search(source.text):
        raise cur.error("XPST0003", "a character that XML does not allow", odd.span())
    with room_for_nesting():
        return _module(cur)


def parse_library(text: str, name: str) -> LibraryModule:
    """The tree of a library module; XQST0059 if the text is a main module."""
    source = Source(name, text.replace("\r\n", "\n").replace("\r", "\n"))
    cur = Cursor(source)
    if odd := NOT_XML.search(source.text):
        raise cur.error("XPST0003", "a character that XML does not allow", odd.span())
    with room_for_nesting():
        return _library(cur)


def _library(cur: Cursor) -> LibraryModule:
    cur.skip()
    version = _version(cur)
    start = cur.pos
    if cur.word() != "module" or cur.next_word() != "namespace":
        message = "an imported text must begin with: module namespace …"
        raise cur.error("XQST0059", message, (start, start + 1))
    cur.take_word("module")
    cur.take_word("namespace")
    prefix = ncname(cur, "a prefix")
    cur.expect("=")
    uri = uri_literal(cur)
    if prefix in ("xml", "xmlns"):
        message = f"the prefix '{prefix}' cannot name a module"
        raise cur.error("XQST0070", message, cur.span(start))
    if not uri.strip():
        raise cur.error("XQST0088", "a module must have a namespace", cur.span(start))
    cur.expect(";")
    declarations = prolog.prolog(cur)
    for one in declarations:
        if isinstance(one, ContextItemDecl) and not one.external:
            message = "only a main module may set the context item"
            raise cur.error("XQST0113", message, one.span)
    if cur.pos < len(cur.source.text):
        raise cur.expected("a declaration or the end of the module")
    return LibraryModule(version, prefix, uri, declarations, cur.source, (0, cur.last))


@contextmanager
def room_for_nesting() -> Iterator[None]:
    """Let a walk over the deepest tree that the grammar accepts end well."""
    before = sys.getrecursionlimit()
    if before >= MAX_DEPTH * _FRAMES:
        yield
        return
    sys.setrecursionlimit(MAX_DEPTH * _FRAMES)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _module(cur: Cursor) -> Module:
    cur.skip()
    version = _version(cur)
    if cur.word() == "module" and cur.next_word() == "namespace":
        message = "a library module has no body to run: import it into a query"
        raise cur.error("XPST0003", message, (cur.pos, cur.pos + 6))
    declarations = prolog.prolog(cur)
    body = expressions.expr(cur)
    if cur.pos < len(cur.source.text):
        hint = _variable_meant(cur) or _clause_meant(cur)
        raise cur.expected("an operator or the end of the query", OPERATOR_WORDS, hint)
    if cur.refusal is not None:
        raise cur.refusal
    return Module(version, declarations, body, cur.source, (0, cur.last))


def _variable_meant(cur: Cursor) -> str | None:
    """`for x in` is read as a path `for`; what was meant has a dollar sign."""
    before = _BINDING.search(cur.source.text, 0, cur.pos)
    name = cur.word()
    return f"a variable is written with $: {before[1]} ${name}" if before and name else None


def _clause_meant(cur: Cursor) -> str | None:
    """`fro $x in` and `delcare variable` are read as a path, and what follows as an error."""
    from difflib import get_close_matches

    before = _LAST_WORD.search(cur.source.text, 0, cur.pos)
    if before is None:
        return None
    words = (
        _BEFORE_DOLLAR
        if cur.source.text.startswith("$", cur.pos)
        else _BEFORE_WORD.get(cur.word(), ())
    )
    near = get_close_matches(before[1], words, 1)
    return f"did you mean '{near[0]}'?" if near else None


def _version(cur: Cursor) -> VersionDecl | None:
    """`xquery version "3.1" encoding "utf-8";`."""
    if cur.word() != "xquery" or cur.next_word() not in ("version", "encoding"):
        return None
    start = cur.pos
    cur.take_word("xquery")
    version = string(cur).value if cur.take_word("version") else None
    if version is not None and version not in _VERSIONS:
        message = f"the version must be one of {', '.join(_VERSIONS)}; got '{version}'"
        raise cur.error("XQST0031", message, cur.span(start))
    encoding = string(cur).value if cur.take_word("encoding") else None
    if encoding is not None and not _ENCODING.fullmatch(encoding):
        message = f"'{encoding}' is not the name of an encoding"
        raise cur.error("XQST0087", message, cur.span(start))
    cur.expect(";")
    return VersionDecl(version, encoding, cur.span(start))
