"""Cutting documents that follow one another: no two of them share an id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from xstreamcast.edges.cutting import ValidTime, cut
from xstreamcast.errors import Error
from xstreamcast.model.instant import SECOND, show_instant
from xstreamcast.model.structure import TagStructure
from xstreamcast.tape.expat.following import documents, moved

_NUMBER: Final = 6  # digits: the ids of roots sort as the documents do


def cut_documents(
    given: Iterable[bytes],
    structure: TagStructure,
    *,
    valid: ValidTime | None = None,
    name: str = "document",
    number: int = 0,
    at_once: bool = False,
) -> Iterator[bytes]:
    """The fragments of documents that come in chunks; `number`: how many inputs were before.

    `at_once`: fragments without a valid time get the instant at which their document arrived.
    """
    for count, (begin, document) in enumerate(documents(given)):
        when = _or(valid, show_instant((number + 1) * SECOND + count)) if at_once else valid
        prefix = f"{number:0{_NUMBER}}.{count:0{_NUMBER}}." if number or count else ""
        try:
            yield from cut(document, structure, valid=when, name=name, prefix=prefix)
        except Error as refused:
            raise moved(refused, begin) from None


def _or(valid: ValidTime | None, arrived: str) -> ValidTime:
    """The valid time of a fragment, or when its document arrived."""
    return lambda payload: (valid(payload) if valid else None) or arrived
