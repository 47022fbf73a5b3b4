"""Characters as a method writes them: escaped, mapped, and kept within the encoding."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from xstreamcast.errors import error
from xstreamcast.functions.serialization.parameters import Parameters
from xstreamcast.functions.strings.strings import is_xml_character

_UNICODE: Final = frozenset({"utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7"})
_TEXT: Final = re.compile("[&<>\r\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028]")
_ATTRIBUTE: Final = re.compile('[&<>"\r\n\t\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028]')
_NAMES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


class Characters:
    """How one serialisation writes characters."""

    def __init__(self, parameters: Parameters) -> None:
        self._maps = parameters.use_character_maps
        self._form = parameters.normalization_form
        self._fits = _fits(parameters.encoding)
        self._one_one = parameters.xml_version == "1.1"
        self._mapped = re.compile(f"[{re.escape(''.join(self._maps))}]") if self._maps else None

    def text(self, value: str) -> str:
        """Character data of XML."""
        return self._parts(value, lambda part: self._encoded(_TEXT.sub(self._escaped, part)))

    def attribute(self, value: str) -> str:
        """The value of an attribute, between double quotes."""
        return self._parts(value, lambda part: self._encoded(_ATTRIBUTE.sub(self._escaped, part)))

    def raw(self, value: str) -> str:
        """Text that nothing escapes: every character must be in the encoding (SERE0008)."""
        return self._parts(value, self._as_is)

    def json(self, value: str, quote: Callable[[str], str]) -> str:
        """A string of JSON: what the encoding lacks becomes an escape."""
        return self._parts(value, lambda part: self._codes(quote(part)))

    def plain(self, value: str) -> str:
        """Characters of names, comments and the like: neither mapped nor escaped."""
        return self._as_is(self._normalised(value))

    def cdata(self, value: str) -> str:
        """A CDATA section; characters that it cannot contain are written outside as references."""
        value = self._normalised(value).replace("]]>", "]]]]><![CDATA[>")
        inside = "".join(
            char if self._fits(char) else f"]]>&#x{ord(char):X};<![CDATA[" for char in value
        )
        return f"<![CDATA[{inside}]]>".replace("<![CDATA[]]>", "")

    def _parts(self, value: str, write: Callable[[str], str]) -> str:
        """Mapped characters as their strings, untouched; all else as `write` has it."""
        if self._mapped is None:
            return write(self._normalised(value))
        made, at = [], 0
        for found in self._mapped.finditer(value):
            made += [write(self._normalised(value[at : found.start()])), self._maps[found[0]]]
            at = found.end()
        return "".join([*made, write(self._normalised(value[at:]))])

    def _normalised(self, value: str) -> str:
        if self._form == "none" or not value:
            return value
        return unicodedata.normalize(self._form, value)  # type: ignore[arg-type]

    def _escaped(self, found: re.Match[str]) -> str:
        char = found[0]
        if char in _NAMES:
            return _NAMES[char]
        code = ord(char)
        if not is_xml_character(code) and (not self._one_one or code == 0):
            raise error("SERE0006", f"the character U+{code:04X} is not allowed in XML")
        return f"&#x{code:X};"

    def _encoded(self, value: str) -> str:
        if value.isascii() or self._fits(value):
            return value
        return "".join(c if self._fits(c) else f"&#x{ord(c):X};" for c in value)

    def _codes(self, value: str) -> str:
        if value.isascii() or self._fits(value):
            return value
        return "".join(c if self._fits(c) else _utf16(c) for c in value)

    def _as_is(self, value: str) -> str:
        if not self._fits(value):
            raise error("SERE0008", "a character is not in the encoding of the output")
        return value


def _utf16(char: str) -> str:
    data = char.encode("utf-16-be")
    return "".join(f"\\u{data[i] * 256 + data[i + 1]:04X}" for i in range(0, len(data), 2))


@lru_cache(maxsize=32)
def _fits(encoding: str) -> Callable[[str], bool]:
    """Whether a text can be written in the encoding."""
    name = codecs.lookup(encoding).name
    if name in _UNICODE:
        return lambda value: True

    def fits(value: str) -> bool:
        try:
            value.encode(name)
        except UnicodeEncodeError:
            return False
        return True

    return fits
