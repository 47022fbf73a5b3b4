"""Where fragments begin in the bytes of a wire: at its start, and again after a broken one."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from xstreamcast.model.fragment import STREAM
from xstreamcast.model.frozen import dataclass

_MISC: Final = rb"[ \t\r\n]+|<\?.*?\?>|<!--.*?-->"  # white space, PIs, comments
# What is allowed before the root: also a byte order mark, and a document type.
_BEFORE: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:" + _MISC + rb"|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*", re.S
)
_BETWEEN: Final = re.compile(rb"(?:" + _MISC + rb")*", re.S)
_ROOT: Final = re.compile(
    rb"<(?:([A-Za-z_][\w.-]*):)?fragments(?=[\s>/])(?:[^>\"']|\"[^\"]*\"|'[^']*')*>"
)
_ROOT_END: Final = re.compile(rb"\s*(?:</(?:[A-Za-z_][\w.-]*:)?fragments\s*>\s*)?\Z")
_MAYBE_ROOT: Final = re.compile(rb"<[^\s/>]*\Z|<(?:[A-Za-z_][\w.-]*:)?fragments\s")
_WORDS: Final = rb"filler|repeat|replace|remove|eos|structure|tagstructure|tagStructure|heartbeat"
_BINDING: Final = re.compile(rb"\sxmlns:([^\s=]+)\s*=\s*[\"']" + STREAM.encode() + rb"[\"']")
DECLARED: Final = b" xmlns:stream='" + STREAM.encode() + b"'"
BARE: Final = b"<fragments" + DECLARED + b">"  # the root that fragments without one are given


@dataclass(frozen=True, slots=True)
class Opening:
    """The root's start tag to read the wire under, and where the content begins."""

    tag: bytes
    begin: int
    empty: bool = False


def opening(head: bytes, final: bool) -> Opening | None:
    """How the wire begins; None = more bytes are needed."""
    begin = root_begin(head)
    rest = head[begin : begin + 4096]
    if not rest and not final:
        return None
    root = _ROOT.match(rest)
    if root is not None:
        tag = root.group()
        return Opening(_declaring(tag), begin + root.end(), tag.endswith(b"/>"))
    undecided = rest.startswith((b"<!", b"<?")) or _MAYBE_ROOT.match(rest) or len(rest) < 4
    if undecided and not final and len(head) < 1 << 16:
        return None
    return Opening(BARE, begin)


def _declaring(tag: bytes) -> bytes:
    """The root's tag, with the prefix `stream` declared, and open."""
    body = tag[:-2] if tag.endswith(b"/>") else tag[:-1]
    return body + (b">" if b"xmlns:stream" in body else DECLARED + b">")


def root_begin(head: bytes) -> int:
    """Where what is allowed before the root ends."""
    found = _BEFORE.match(head)
    return found.end() if found else 0


def first_markup(kept: bytes) -> int:
    """Where white space, comments and PIs end, below the root."""
    found = _BETWEEN.match(kept)
    return found.end() if found else 0


def fragment_bytes(raw: bytes) -> bytes:
    """The bytes without white space and the root's end tag after them."""
    return _ROOT_END.sub(b"", raw)


def next_start(kept: bytes, tag: bytes, begin: int = 1) -> int:
    """Where a fragment begins from byte `begin` on, below a root with this tag; -1 = nowhere."""
    found = _starts(tag).search(kept, begin)
    return found.start() if found else -1


def sure_start(kept: bytes, tag: bytes, begin: int) -> int:
    """`next_start`, but for what might be an element of the payload: without prefix and tsid."""
    for found in _starts(tag).finditer(kept, begin):
        head = kept[found.start() : kept.find(b">", found.end())]
        if b":" in head.split(None, 1)[0] or b" tsid" in head:
            return found.start()
    return -1


@cache
def _starts(tag: bytes) -> re.Pattern[bytes]:
    """With a prefix the word is enough; without, it might be the payload's, but for its id."""
    bound = [found[1] for found in _BINDING.finditer(tag)]
    prefixes = b"|".join(map(re.escape, {b"stream", *bound}))
    return re.compile(
        rb"<(?:" + prefixes + rb"):(?:" + _WORDS + rb")(?=[\s/>])"
        rb"|<(?:filler|repeat|replace|remove)\s(?:[^<>]*\s)?id\s*="
        rb"|<(?:eos|structure|tag[sS]tructure)(?=[\s/>])"
    )


def end_of_element(data: bytes) -> int:
    """Where the element ends that well-formed bytes begin with."""
    from xml.parsers import expat  # here: few streams have anything between fragments

    parser = expat.ParserCreate("UTF-8")
    depth = 0

    def begin(_name: str, _attributes: object) -> None:
        nonlocal depth
        depth += 1

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1
        if depth == 0:
            raise _Found(parser.CurrentByteIndex)

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    try:
        parser.Parse(data, True)
    except _Found as found:
        empty = not data.startswith(b"</", found.at)  # then it ends there
        return found.at if empty else data.index(b">", found.at) + 1
    raise AssertionError("the bytes begin with an element that has ended")


class _Found(Exception):
    """Where the end tag of the first element begins, or where its start tag ends if it is empty."""

    def __init__(self, at: int) -> None:
        self.at = at
