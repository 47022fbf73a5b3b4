"""A note for a query that fails for now: what is still to come may make its error go away."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from xstreamcast.errors import Error

LASTS = 5.0  # seconds: parts that are still on their way are no news


@dataclass(slots=True)
class Failing:
    """The error of the last tick, since when it is there, and whether a note has said so."""

    _why: str | None = None
    _since: float = 0.0
    _noted: bool = False

    def look(self, why: Error | None, say: Callable[[str], None]) -> None:
        """Note an error that lasts, once, and that it is gone if it was noted."""
        shown = None if why is None else f"error[{why.code}] {why.message}"
        if shown is None:
            if self._noted:
                say("the query has an answer again")
            self._why, self._noted = None, False
        elif self._why is None:
            self._why, self._since = shown, time.monotonic()
        elif not self._noted and time.monotonic() - self._since >= LASTS:
            self._why, self._noted = shown, True
            say(
                f"the query fails with what has arrived so far: {shown}; it is evaluated again "
                "as more arrives, and fails for good if that is so when its inputs end"
            )
