"""How long to wait before a place is called again."""

from __future__ import annotations

import random
from typing import Final

_FIRST: Final = 0.5  # seconds
_LONGEST: Final = 30.0


class BackOff:
    """Twice as long after each failure, a little by chance; at once after a success."""

    def __init__(self, longest: float = _LONGEST) -> None:
        self._longest, self.failures = longest, 0

    def succeeded(self) -> None:
        self.failures = 0

    def failed(self) -> float:
        """Seconds to wait after this failure."""
        wait: float = min(_FIRST * 2**self.failures, self._longest)
        self.failures = min(self.failures + 1, 16)
        return wait * random.uniform(0.8, 1.2)
