"""A query asked in one line: the answer's items as strings, or the code of its error."""

from __future__ import annotations

from typing import Any

from xstreamcast.api import query
from xstreamcast.errors import Error


def ask(text: str, document: str | None = None, **inputs: Any) -> list[str]:
    """The lines of the answer."""
    return list(query(text).run(document.encode() if document else None, **inputs).lines())


def code(text: str, document: str | None = None, **inputs: Any) -> str:
    """The code of the error that it must be."""
    try:
        answer = ask(text, document, **inputs)
    except Error as caught:
        return caught.code
    raise AssertionError(f"an error was due; got {answer}")
