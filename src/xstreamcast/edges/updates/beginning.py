"""The kind of an input by its first bytes: an update stream, a stream of changes, or neither."""

from __future__ import annotations

import re
from typing import Final

from xstreamcast.edges.updates.markup import UPDATES

_LINE: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{[^\n]*"event"\s*:')
_CHANGE: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{[^\n]*"diff"\s*:')
_ROOT: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s+|<\?.*?\?>|<!--.*?-->)*<(?:[\w.-]+:)?updates\s[^<>]*"
    + re.escape(UPDATES.encode()),
    re.S,
)


def is_update_stream(head: bytes) -> bool:
    """Whether the first bytes of an input are those of an update stream, in either form."""
    return bool(_LINE.match(head) or _ROOT.match(head))


def is_change_stream(head: bytes) -> bool:
    """Whether the first bytes of an input are those of an answer's changes."""
    return bool(_CHANGE.match(head)) and not is_update_stream(head)
