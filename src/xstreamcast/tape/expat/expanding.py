"""A document with an internal DTD subset, as it comes, to bytes that need none.

    <!DOCTYPE a [<!ENTITY e "x"><!ATTLIST a k CDATA "v">]><a>&e;</a>   →   <a k="v">x</a>

expat expands; what the fast reader gets has the same elements, attributes and texts.
"""

from __future__ import annotations

import re
from typing import Final
from xml.parsers import expat

from xstreamcast.errors import DataPlace, error
from xstreamcast.tape.expat.expat_errors import input_error
from xstreamcast.tape.expat.outside import OutsideEntities
from xstreamcast.tape.limits import default_limits, raised
from xstreamcast.tape.reading.prolog import behind_misc

_LONGEST: Final = 1 << 20  # bytes in which a DOCTYPE must begin and show whether it has a subset
_DOCTYPE: Final = re.compile(rb"<!DOCTYPE(?:[^\[>\"']|\"[^\"]*\"|'[^']*')*([\[>])", re.DOTALL)
_MAY_BE: Final = (b"<!DOCTYPE", b"<!--", b"<?")
_JUNK: Final = 9  # expat's number for content behind the root


def has_subset(head: bytes) -> bool | None:
    """Whether a document that begins so has an internal DTD subset; None: more must be seen."""
    rest = behind_misc(head)
    if found := _DOCTYPE.match(rest):
        return found[1] == b"["
    open_ended = not rest or any(rest.startswith(one) or one.startswith(rest) for one in _MAY_BE)
    return None if open_ended and len(head) < _LONGEST else False


class Expander:
    """Bytes of UTF-8 in, bytes of UTF-8 out; each error is where the document has it."""

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._parser = expat.ParserCreate("utf-8")
        self._parser.ordered_attributes = True
        self._entities = OutsideEntities(self._parser, self._place)
        self._parser.StartElementHandler = self._on_start
        self._parser.EndElementHandler = lambda name: self._out.append(f"</{name}>")
        self._parser.CharacterDataHandler = self._on_text
        self._parser.CommentHandler = lambda text: self._outside_doctype(f"<!--{text}-->")
        self._parser.ProcessingInstructionHandler = self._on_instruction
        self._parser.AttlistDeclHandler = self._on_attribute_list
        self.identifiers: dict[tuple[str, str], str] = {}  # (element, attribute): ID or IDREF
        self._over = False
        self._out: list[str] = []
        self._made = 0
        self._kept, self._passed = b"", 0  # bytes that may be read again, and those before them

    def feed(self, chunk: bytes) -> bytes:
        """What a chunk represents; what follows the root is as it came."""
        if self._over:
            return chunk
        self._kept += chunk
        try:
            self._parser.Parse(chunk, False)
        except expat.ExpatError as said:
            at = max(self._parser.ErrorByteIndex - self._passed, 0)
            if said.code != _JUNK:
                refused = input_error(said, at, self._kept, self._name, b" ")
                refused.place = self._error_place()
                raise refused from None
            self._over = True
            return self._taken() + self._kept[at:]
        seen = max(self._parser.CurrentByteIndex, self._passed)
        self._kept, self._passed = self._kept[seen - self._passed :], seen
        return self._taken()

    def _taken(self) -> bytes:
        out, self._out = "".join(self._out).encode(), []
        return out

    def _on_start(self, name: str, attributes: list[str]) -> None:
        self._entities.check_attributes()
        names, values = attributes[::2], attributes[1::2]
        written = [f' {key}="{_quoted(value)}"' for key, value in zip(names, values, strict=True)]
        self._count(len(name) + sum(map(len, attributes)))
        self._out.append(f"<{name}{''.join(written)}>")

    def _on_attribute_list(self, element: str, name: str, kind: str, *_: object) -> None:
        if kind in ("ID", "IDREF", "IDREFS"):
            self.identifiers.setdefault((element, name), kind.removesuffix("S"))

    def _on_instruction(self, target: str, text: str) -> None:
        self._outside_doctype(f"<?{target} {text}?>" if text else f"<?{target}?>")

    def _on_text(self, text: str) -> None:
        self._count(len(text))
        self._out.append(_escaped(text))

    def _outside_doctype(self, text: str) -> None:
        if not self._entities.in_doctype:
            self._count(len(text))
            self._out.append(text)

    def _count(self, characters: int) -> None:
        # A character takes at least one byte of input: the rest was made by declarations.
        self._made += characters
        most = default_limits().max_entity_expansion
        if self._made - max(self._parser.CurrentByteIndex, 0) > most:
            hint = f"the limit is {most}; {raised('max_entity_expansion')}"
            raise error("XSCX0104", None, at=self._place(), hint=hint)

    def _error_place(self) -> DataPlace:
        parser = self._parser
        line, column = parser.ErrorLineNumber, parser.ErrorColumnNumber + 1
        return DataPlace(self._name or "input", None, parser.ErrorByteIndex, line, column)

    def _place(self) -> DataPlace:
        parser = self._parser
        line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        return DataPlace(self._name or "input", None, parser.CurrentByteIndex, line, column)


def _escaped(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("\r", "&#13;")


def _quoted(value: str) -> str:
    text = _escaped(value).replace('"', "&quot;")
    return text.replace("\t", "&#9;").replace("\n", "&#10;")
