"""Which of the bytes between fragments are text, and which are markup."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from xstreamcast.tape.layout import I64, U8, Bools

CDATA: Final = b"<![CDATA["
MARKUP_BEGIN: Final = 60  # <
_MARKUP_END: Final = 62  # >
_DASH: Final = 45  # before the end of a comment
_QUESTION: Final = 63  # before that of a processing instruction
_BRACKET: Final = 93  # before that of a CDATA section
_PLAIN_END: Final = re.compile(rb"(?<![-?\]])>\Z")  # of a tag, most likely
_MARKUP: Final = re.compile(
    rb"(?P<text><!\[CDATA\[.*?(?:\]\]>|\Z))|<!--.*?-->|<\?.*?\?>|</?[^!?/][^>]*>", re.DOTALL
)


def may_end_tag(text: bytes) -> bool:
    """Whether bytes most likely end with a tag: not a comment, a PI or a CDATA section."""
    return _PLAIN_END.search(text[-3:]) is not None


def markup(seen: bytes) -> list[tuple[int, int]]:
    """Where tags, comments and PIs begin and end; a CDATA section is text, whatever it contains."""
    return [one.span() for one in _MARKUP.finditer(seen) if one["text"] is None]


def end_tags(heap: U8, last: I64) -> Bools:
    """Which of these bytes end a tag: a text may end with `>`, too, but it contains no `<`."""
    before = heap[last - 1]
    tags: Bools = heap[last] == _MARKUP_END
    for other in (_DASH, _QUESTION, _BRACKET):
        tags &= before != other
    unsure, at = np.flatnonzero(tags), last - 1
    while len(unsure):
        seen = heap[at[unsure]]
        tags[unsure[seen == _MARKUP_END]] = False
        unsure = unsure[(seen != _MARKUP_END) & (seen != MARKUP_BEGIN)]
        at[unsure] -= 1
    return tags
