"""Entities whose text is outside the document: nothing is fetched, so they are refused.

expat leaves them out silently, unless it has a handler for them. In attributes it says nothing at
all: there the start tag is looked at as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from xstreamcast.errors import DataPlace, Error, error

if TYPE_CHECKING:
    from xml.parsers.expat import XMLParserType

_REFERENCE: Final = re.compile(rb"&([^#;&<>\s][^;&<>\s]*);")
_TAG: Final = re.compile(rb"<[^\s/>]+(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_UNDECLARED: Final = "the document does not declare it"
_OWN: Final = {b"lt", b"gt", b"amp", b"apos", b"quot"}


class OutsideEntities:
    """Called for entities that a document uses and does not declare."""

    def __init__(self, parser: XMLParserType, place: Callable[[], DataPlace]) -> None:
        self._parser, self._place = parser, place
        self._declared = set(_OWN)
        self._outside = False  # whether something outside may declare entities
        self.in_doctype = False
        parser.StartDoctypeDeclHandler = self._on_doctype
        parser.EndDoctypeDeclHandler = self._on_doctype_end
        parser.EntityDeclHandler = self._on_entity
        parser.ExternalEntityRefHandler = self._on_external
        parser.SkippedEntityHandler = self._on_skipped

    def _on_doctype(self, _name: str, system: str | None, _public: str | None, _in: int) -> None:
        self.in_doctype, self._outside = True, system is not None

    def _on_doctype_end(self) -> None:
        self.in_doctype = False

    def _on_entity(
        self, name: str, parameter: int, value: str | None, _base: str | None,
        system: str | None, _public: str | None, _notation: str | None,
    ) -> None:  # fmt: skip
        if parameter:
            self._outside |= system is not None
        else:
            self._declared.add(name.encode())

    def _on_external(
        self, context: str, _base: str | None, system: str | None, _public: str | None
    ) -> int:
        name = next(part for part in context.split("\f") if "=" not in part)  # others are bindings
        raise self._refused(name, f"it is in {system}")

    def _on_skipped(self, name: str, parameter: int) -> None:
        if not parameter:
            raise self._refused(name, _UNDECLARED)

    def check_attributes(self) -> None:
        """To be called at each start tag."""
        if not self._outside:
            return
        written = self._parser.GetInputContext()
        tag = _TAG.match(written) if isinstance(written, bytes) else None
        for name in _REFERENCE.findall(tag[0]) if tag else ():
            if name not in self._declared:
                raise self._refused(
                    name.decode("utf-8", "replace"), "the document does not declare it"
                )

    def _refused(self, name: str, why: str) -> Error:
        return error(
            "XSCX0006", f"the text of the entity &{name}; is not in the document: {why}, and "
            "nothing outside is read", at=self._place(),
            hint="declare the entity with its text in the document",
        )  # fmt: skip
