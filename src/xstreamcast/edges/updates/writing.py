"""Tokens as XML, in the form in which nodes are serialised, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from xml.parsers import expat

from xstreamcast.edges.updates.events import Token
from xstreamcast.model.markup import escape

_IN_TEXT: Final = {"\r": "&#xD;"}
_IN_VALUES: Final = {'"': "&quot;", "\t": "&#x9;", "\n": "&#xA;", "\r": "&#xD;"}


def start_tag(token: Token) -> str:
    """The start tag of an element."""
    attributes = token[2] if len(token) > 2 else ()
    said = "".join(f' {name}="{escape(value, _IN_VALUES)}"' for name, value in attributes)
    return f"<{token[1]}{said}>"


def leaf(token: Token) -> str:
    """Text, a comment or a processing instruction."""
    match token:
        case "cD", str(text):
            return escape(text, _IN_TEXT)
        case "comment", str(text):
            return f"<!--{text}-->"
        case "pi", str(target), str(text):
            return f"<?{target} {text}?>" if text else f"<?{target}?>"
        case _:
            return ""


def xml(tokens: Iterable[Token]) -> str:
    """Tokens as XML; tuples leave no trace."""
    out: list[str] = []
    fresh = False  # the last thing written is the start tag of an element
    for token in tokens:
        match token[0]:
            case "sE":
                out.append(start_tag(token))
            case "eE" if fresh:
                out[-1] = out[-1][:-1] + "/>"
            case "eE":
                out.append(f"</{token[1]}>")
            case _:
                out.append(leaf(token))
        fresh = token[0] == "sE"
    return "".join(out)


def parsed(text: str) -> list[Token] | None:
    """The tokens of serialised nodes; None where they are none.

    parsed(xml(tokens)) = tokens
    """
    found: list[Token] = []
    parser = expat.ParserCreate()
    parser.buffer_text = parser.ordered_attributes = True
    parser.StartElementHandler = lambda tag, said: found.append(
        ("sE", tag, tuple(zip(said[::2], said[1::2], strict=True)))
    )
    parser.EndElementHandler = lambda tag: found.append(("eE", tag))
    parser.CharacterDataHandler = lambda data: found.append(("cD", data))
    parser.CommentHandler = lambda data: found.append(("comment", data))
    parser.ProcessingInstructionHandler = lambda target, data: found.append(("pi", target, data))
    try:
        parser.Parse(f"<x>{text}</x>", True)
    except (expat.ExpatError, UnicodeEncodeError):
        return None
    inner = found[1:-1]
    return inner if xml(inner) == text else None
