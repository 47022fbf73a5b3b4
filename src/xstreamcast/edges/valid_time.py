"""Which valid time the fragments of a document get: one for all, or what each says itself."""

from __future__ import annotations

import re
from typing import Final

from xstreamcast.edges.cutting import ValidTime
from xstreamcast.edges.mapping.form import TimeRule
from xstreamcast.edges.mapping.times import instant_of
from xstreamcast.errors import error
from xstreamcast.model.fragment import STREAM
from xstreamcast.model.instant import parse_instant, show_instant
from xstreamcast.tape.node import Node
from xstreamcast.tape.reading.read import read

_STEP: Final = re.compile(r"@?(?:(?:\*|[^\W\d][\w.-]*):)?[^\W\d][\w.-]*")
_ANY: Final = TimeRule("")
_AROUND: Final = f'<f xmlns:stream="{STREAM}">'.encode(), b"</f>"


def valid_time(written: str) -> ValidTime:
    """An instant for all, or a path from a fragment's element: `date`, `sold/@at`, `@time`."""
    if parse_instant(written) is not None:
        return lambda _: written
    steps = written.strip("/").split("/")
    if not all(_STEP.fullmatch(step) for step in steps):
        above = ".." in steps
        raise error(
            "XSCU0005",
            f"a valid time must be an instant or a path such as sold/@at; got {written}",
            hint="elements above a fragment can be read through a mapping: xstreamcast map"
            if above
            else None,
        )
    return lambda payload: _found(payload, steps)


def _found(payload: bytes, steps: list[str]) -> str | None:
    """The first instant at the end of the path; None where there is none."""
    around = read(_AROUND[0] + payload + _AROUND[1])
    nodes = around[0].children[0].children
    for step in steps:
        nodes = [found for node in nodes for found in _step(node, step)]
    texts = (_written(node.string.strip()) for node in nodes)
    return next((text for text in texts if text is not None), None)


def _written(text: str) -> str | None:
    """A time as the wire has it: as it is, where it is a dateTime or a date."""
    if parse_instant(text) is not None:
        return text
    instant = instant_of(text, _ANY)
    return None if instant is None else show_instant(*instant)


def _step(node: Node, step: str) -> list[Node]:
    below = node.attributes if step.startswith("@") else node.children
    prefix, _, local = step.removeprefix("@").rpartition(":")
    named = [found for found in below if found.name.rpartition(":")[2] == local]
    if prefix in ("", "*"):
        return named
    return [found for found in named if found.name.partition(":")[0] == prefix]
