"""Names and characters of XML as patterns.

The classes of Unicode in them take 8 ms each to compile. A text of ASCII needs a small pattern
only; the whole one is compiled when a text goes beyond it.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

_START: Final = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_MORE: Final = _START + "\\-.0-9\u00b7\u0300-\u036f\u203f-\u2040"


class NamePattern:
    """A pattern in two forms, which agree on ASCII."""

    def __init__(self, ascii: str, whole: str) -> None:
        self._ascii, self._text = re.compile(ascii), whole

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        return re.compile(self._text)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The match that begins at `start`."""
        found = self._ascii.match(text, start)
        end = found.end() if found else start
        # a name may continue after a colon
        return found if text[end : end + 2].isascii() else self._whole.match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """The text, if all of it matches."""
        return (self._ascii if text.isascii() else self._whole).fullmatch(text)

    def search(self, text: str) -> re.Match[str] | None:
        """The first match."""
        return (self._ascii if text.isascii() else self._whole).search(text)


def _names(pattern: str) -> NamePattern:
    """`S` denotes the first characters of a name, `M` the following ones."""
    ascii = pattern.replace("S", "A-Z_a-z").replace("M", "A-Z_a-z\\-.0-9")
    return NamePattern(ascii, pattern.replace("S", _START).replace("M", _MORE))


NAME_START: Final = _names("[S]")
NCNAME: Final = _names("[S][M]*")
QNAME: Final = _names("([S][M]*)(?::([S][M]*))?")
NAME: Final = _names("[:S][:M]*")
NMTOKEN: Final = _names("[:M]+")
NOT_XML: Final = NamePattern(
    "[\0-\x08\x0b\x0c\x0e-\x1f]", "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
