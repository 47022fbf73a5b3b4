"""Errors, refused fragments and parts of streams as JSON has them: no pickle between processes."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.errors import (
    DataPlace,
    Error,
    InputError,
    QueryError,
    TextPlace,
    UsageError,
)
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.model.fragment import Refused
from xstreamcast.operators.snapshot.history import structure_facts, structure_from

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xstreamcast.errors import Place

Facts = dict[str, Any]
_KINDS: Final = {one.__name__: one for one in (Error, QueryError, InputError, UsageError)}


def error_facts(why: Error) -> Facts:
    """All of an error that a user sees."""
    fields: Facts = {
        "kind": type(why).__name__,
        "code": why.code,
        "message": why.message,
        "hint": why.hint,
    }
    if isinstance(why, QueryError):
        fields |= {"static": why.static, "qname": why.qname, "prefix": why.prefix}
    place = why.place
    fields["text" if isinstance(place, TextPlace) else "data"] = place and asdict(place)
    return fields


def error_from(facts: Mapping[str, Any]) -> Error:
    """The error."""
    place: Place | None = None
    if facts.get("text"):
        place = TextPlace(**{**facts["text"], "span": tuple(facts["text"]["span"])})
    elif facts.get("data"):
        place = DataPlace(**facts["data"])
    made = _KINDS[facts["kind"]](facts["code"], facts["message"], place, facts["hint"])
    if isinstance(made, QueryError):
        made.static, made.prefix = facts["static"], facts["prefix"]
        made.qname = facts["qname"] and tuple(facts["qname"])
    return made


def refused_facts(one: Refused) -> Facts:
    """A refused fragment."""
    return asdict(one) | {"raw": base64.b64encode(one.raw).decode()}


def refused_from(facts: Mapping[str, Any]) -> Refused:
    """The refused fragment."""
    return Refused(**{**facts, "raw": base64.b64decode(facts["raw"])})


def part_facts(part: tuple[Any, ...]) -> list[Any]:
    """What is said of a stream between fragments."""
    match part:
        case ("described", str(name), structure, Moment() as now):
            return ["described", name, structure_facts(structure), list(now)]
        case ("ended", str(name)):
            return ["ended", name]
        case _:
            raise AssertionError(part)


def part_from(facts: list[Any]) -> tuple[Any, ...]:
    """It again."""
    match facts:
        case ["described", name, structure, now]:
            return "described", name, structure_from(structure), Moment(*now)
        case _:
            return tuple(facts)
