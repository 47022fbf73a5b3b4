"""A note for a query that fails for now: what is still to come may make its error go away."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from xstreamcast.errors import Error

LASTS = 5.0  # seconds: parts that are still on their way are no news


@dataclass(slots=True)
class FailingSince:
    """Since when queries fail, by the monotonic clock, and which of them a note has named."""

    _since: dict[str, float] = field(default_factory=dict)
    _noted: set[str] = field(default_factory=set)

    def look(self, failures: Mapping[str, Error], say: Callable[[str], None]) -> None:
        """Note an error that lasts, once, and that it is gone if it was noted."""
        for name in [one for one in self._since if one not in failures]:
            del self._since[name]
            if name in self._noted:
                self._noted.remove(name)
                say(f"{_shown(name)} has an answer again")
        for name, why in failures.items():
            since = self._since.setdefault(name, time.monotonic())
            if name not in self._noted and time.monotonic() - since >= LASTS:
                self._noted.add(name)
                say(_note(name, why))


def _shown(name: str) -> str:
    return f"the query {name}" if name else "the query"


def _note(name: str, why: Error) -> str:
    return (
        f"{_shown(name)} fails with what has arrived so far: error[{why.code}] {why.message}; "
        "it is evaluated again as more arrives, and fails for good if that is so when its "
        "inputs end"
    )
