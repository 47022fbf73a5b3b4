"""Which valid time the fragments of a document get: one for all, or what each says itself."""

from __future__ import annotations

import re
from typing import Final

from xstreamcast.edges.cutting import ValidTime
from xstreamcast.errors import error
from xstreamcast.model.fragment import STREAM
from xstreamcast.model.instant import parse_instant
from xstreamcast.tape.node import Node
from xstreamcast.tape.reading import read

_STEP: Final = re.compile(r"@?[^\W\d][\w.-]*")
_AROUND: Final = f'<f xmlns:stream="{STREAM}">'.encode(), b"</f>"


def valid_time(written: str) -> ValidTime:
    """An instant for all, or a path from a fragment's element: `date`, `sold/@at`, `@time`."""
    if parse_instant(written) is not None:
        return lambda _: written
    steps = written.strip("/").split("/")
    if not all(
        step.removeprefix("@").replace("-", "").replace("_", "").isalnum() for step in steps
    ):
        raise error(
            "XSCU0005",
            f"a valid time must be an instant or a path such as sold/@at; got {written}",
        )
    return lambda payload: _found(payload, steps)


def _found(payload: bytes, steps: list[str]) -> str | None:
    """The first instant at the end of the path; None where there is none."""
    around = read(_AROUND[0] + payload + _AROUND[1])
    nodes = around[0].children[0].children
    for step in steps:
        nodes = [found for node in nodes for found in _step(node, step)]
    told = (node.string.strip() for node in nodes)
    return next((text for text in told if parse_instant(text) is not None), None)


def _step(node: Node, step: str) -> list[Node]:
    below = node.attributes if step.startswith("@") else node.children
    return [found for found in below if found.name.rpartition(":")[2] == step.removeprefix("@")]
