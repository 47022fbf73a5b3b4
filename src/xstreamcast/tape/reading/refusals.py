"""What a reader says when an input goes beyond a limit."""

from __future__ import annotations

from xstreamcast.errors import DataPlace, Error, error
from xstreamcast.tape.expat.expat_errors import Buffer, place
from xstreamcast.tape.limits import Limits, raised
from xstreamcast.tape.tokenize.state import NAME_TOO_LONG, TOO_DEEP, TOO_MANY_ATTRIBUTES

BEYOND = (TOO_DEEP, NAME_TOO_LONG, TOO_MANY_ATTRIBUTES)


def beyond(answer: int, limits: Limits, at: DataPlace) -> Error:
    """The error for an answer of the tokeniser that names a limit."""
    code, what, limit, bound = {
        TOO_DEEP: ("XSCX0101", "the depth of elements", "max_depth", limits.max_depth),
        NAME_TOO_LONG: ("XSCX0102", "bytes in a name", "max_name_length", limits.max_name_length),
        TOO_MANY_ATTRIBUTES: (
            "XSCX0103",
            "attributes of an element",
            "max_attributes",
            limits.max_attributes,
        ),
    }[answer]
    return error(
        code,
        f"{what} must be at most {bound}; got more",
        at=at,
        hint=raised(limit),
    )


def too_large(size: int, limits: Limits, name: str | None, what: str = "the document") -> Error:
    """The error for a document or unit of more bytes than the limit."""
    return error(
        "XSCX0105",
        f"{what} must be at most {limits.max_document_size} bytes; got {size} or more",
        at=DataPlace(name or "input"),
        hint=raised("max_document_size"),
    )


def check_size(size: int, limits: Limits, name: str | None) -> None:
    """Refuse a document that is too large."""
    if size > limits.max_document_size:
        raise too_large(size, limits, name)


def beyond_at(answer: int, limits: Limits, data: Buffer, pos: int, name: str | None) -> Error:
    """`beyond`, with the place of byte `pos` of `data`."""
    return beyond(answer, limits, place(data, pos, name))
