"""What a reading of an update stream hands out: events with their places, and what is none."""

from __future__ import annotations

from typing import TypeAlias

from xstreamcast.edges.updates.events import Event
from xstreamcast.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class EventPart:
    """An event and its position: byte offset from 0, line from 1."""

    event: Event
    offset: int
    line: int
    raw: bytes


@dataclass(frozen=True, slots=True)
class MalformedEvent:
    """Bytes that are not an event, their position and the reason."""

    code: str
    reason: str
    offset: int
    line: int
    raw: bytes


Read: TypeAlias = EventPart | MalformedEvent
