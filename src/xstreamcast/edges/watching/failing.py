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
    """Since when ticks fail, by the monotonic clock, and whether a note has said so."""

    _since: float | None = None
    _noted: bool = False

    def look(self, why: Error | None, say: Callable[[str], None]) -> None:
        """Note an error that lasts, once, and that it is gone if it was noted."""
        if why is None:
            if self._noted:
                say("the query has an answer again")
            self._since, self._noted = None, False
        elif self._since is None:
            self._since = time.monotonic()
        elif not self._noted and time.monotonic() - self._since >= LASTS:
            self._noted = True
            say(
                f"the query fails with what has arrived so far: error[{why.code}] {why.message}; "
                "it is evaluated again as more arrives, and fails for good if that is so when its "
                "inputs end"
            )
