"""A running query put into a snapshot, and another one that goes on from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.operators.watched import Watched
from xstreamcast.edges.snapshot.container import unpacked
from xstreamcast.edges.snapshot.query import restored, taken


def snapshot(running: Watched) -> bytes:
    """The bytes of a snapshot."""
    return taken(running.watch, running.decoders, {})


def going_on(raw: bytes, query: str, kinds: Mapping[str, Any], **options) -> Watched:
    """A new query that goes on from a snapshot."""
    made = Watched(query, kinds, **options)
    restored(unpacked(raw), made.watch, made.decoders)
    return made
