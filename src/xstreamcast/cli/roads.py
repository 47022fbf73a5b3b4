"""A feed of road incidents generated on the fly: messages open, correct and close incidents."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Final

ROADS: Final = ("A1", "A3", "A8", "B17", "M25", "E45")
CAUSES: Final = ("accident", "roadworks", "flooding", "broken-down vehicle", "ice & snow")
START: Final = datetime(2024, 5, 1, 6)


def feed(messages: int, seed: int = 7) -> bytes:
    """An XML document of that many messages; the same bytes for the same numbers."""
    dice = Random(seed)
    versions: dict[int, int] = {}
    at = START
    lines = ['<?xml version="1.0"?>', '<roads xmlns:s="urn:demo:source">']
    for _ in range(messages):
        at += timedelta(seconds=dice.randint(1, 40))
        lines.append(_message(_about(dice, versions), at, versions, dice))
    return "\n".join([*lines, "</roads>\n"]).encode()


def _about(dice: Random, versions: dict[int, int]) -> int:
    """A new incident, or a recent one that is corrected; counts its version."""
    fresh = not versions or dice.random() < 0.4
    about = len(versions) + 1 if fresh else dice.randint(max(1, len(versions) - 50), len(versions))
    versions[about] = versions.get(about, 0) + 1
    return about


def _message(about: int, at: datetime, versions: dict[int, int], dice: Random) -> str:
    place = Random(about)  # an incident keeps its road and cause over all its versions
    status = "closed" if versions[about] > 1 and dice.random() < 0.3 else "open"
    return (
        f'<incident id="{about}" version="{versions[about]}" at="{at.isoformat()}Z">'
        f'<road km="{place.randint(1, 400)}">{place.choice(ROADS)}</road>'
        f"<cause>{place.choice(CAUSES).replace('&', '&amp;')}</cause>"
        f"<status>{status}</status><severity>{dice.randint(1, 5)}</severity>"
        f"<s:by>sensor {dice.randint(100, 999)}</s:by></incident>"
    )
