"""What the characters between the quotes of a JSON string mean, and how JSON writes a string."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from xstreamcast.functions.strings.strings import is_xml_character

_ESCAPE: Final = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|(["\\/bfnrt]))')
_LETTERS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SHORT: Final = {
    "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
}  # fmt: skip
_SPECIAL: Final = re.compile("[\x00-\x1f\x7f-\x9f\\\\]")
_SURROGATES: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_QUOTED: Final = re.compile('[\x00-\x1f\x7f-\x9f"\\\\/]')

Replace = Callable[[str], str]


def unescaped(raw: str) -> str:
    """The characters of a JSON string; unpaired surrogates are left unchanged."""
    if "\\" not in raw:
        return raw
    made = _ESCAPE.sub(_character, raw)
    return _SURROGATES.sub(lambda m: m[0].encode("utf-16", "surrogatepass").decode("utf-16"), made)


def _character(found: re.Match[str]) -> str:
    code, letter = found.groups()
    return chr(int(code, 16)) if code else _LETTERS.get(letter, letter)


def plain(raw: str, fallback: Replace) -> str:
    """The string with every character that XML does not have replaced by the fallback."""
    text = unescaped(raw)
    if all(is_xml_character(ord(char)) for char in set(text)):
        return text
    return "".join(c if is_xml_character(ord(c)) else fallback(_code(c)) for c in text)


def kept_escaped(raw: str) -> str:
    """The string with backslashes and control characters written as JSON escapes."""
    text = _SPECIAL.sub(lambda m: _SHORT.get(m[0]) or _code(m[0]), unescaped(raw))
    return "".join(c if is_xml_character(ord(c)) else _code(c) for c in text)


def _code(char: str) -> str:
    return f"\\u{ord(char):04X}"


def quoted(text: str) -> str:
    """The string as JSON writes it, without its quotes."""
    return _QUOTED.sub(_written, text)


def _written(found: re.Match[str]) -> str:
    char = found[0]
    if char in '"/':
        return "\\" + char
    return _SHORT.get(char) or _code(char)
