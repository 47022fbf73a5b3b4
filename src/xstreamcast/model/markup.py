"""Text as XML: special characters are written as references.

`xml.sax.saxutils` does the same, and imports the network for it.
"""

from __future__ import annotations

from collections.abc import Mapping

_TEXT: Mapping[str, str] = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_VALUE: Mapping[str, str] = {**_TEXT, "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def escape(text: str, more: Mapping[str, str] | None = None) -> str:
    """A text as character data; `more`: characters that are replaced too."""
    return _replaced(text, {**_TEXT, **(more or {})})


def quoteattr(text: str, more: Mapping[str, str] | None = None) -> str:
    """A text as the value of an attribute, with its quotes."""
    written = _replaced(text, {**(more or {}), **_VALUE})
    if '"' not in written:
        return f'"{written}"'
    return f"'{written}'" if "'" not in written else '"{}"'.format(written.replace('"', "&quot;"))


def _replaced(text: str, written: Mapping[str, str]) -> str:
    return text.translate({ord(one): as_what for one, as_what in written.items()})
