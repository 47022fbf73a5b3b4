"""Where a decoder of a mapped feed is, so that another one can continue there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from xstreamcast.edges.lines import LineProgress
    from xstreamcast.edges.mapping.aliases import Aliases
    from xstreamcast.edges.mapping.attendance import PartDeliveries
    from xstreamcast.edges.mapping.statements import Statement
    from xstreamcast.edges.mapping.unchanged import Said


@dataclass(slots=True)
class MappingCounts:
    """What has passed a decoder."""

    read: int = 0  # messages, refused ones included
    units: int = 0
    removals: int = 0
    refused: int = 0
    timed: int = 0  # messages that say when they were sent
    shortened: int = 0


class FeedProgress(NamedTuple):
    """Where a decoder is between two pieces of its input, and what it knows of units."""

    begun: bool
    arrival: int
    offset: int
    held: bytes  # of a message that has not ended
    tree: bytes  # of a root that may never close: its start tag, and what is not complete
    lines: LineProgress | None
    tags: list[tuple[str, str, str]]
    deliveries: dict[str, dict[str, PartDeliveries]]
    unchanged: dict[str, dict[int, list[Said]]]
    statements: dict[str, dict[str, Statement]]
    aliases: dict[str, Aliases]
    numbers: dict[str, int]  # of units without a key: how many there were, by kind
