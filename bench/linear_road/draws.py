"""Random draws by the array, the same on every machine: PCG64's raw bits, integer arithmetic."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


class Draws:
    """One endless row of draws; another `stream` of the same seed is another row."""

    def __init__(self, seed: int, stream: str) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence((seed, *stream.encode())))

    def below(self, n: int | Ints, size: int) -> Ints:
        """Numbers 0 … n-1, each equally likely."""
        raw = (self._bits.random_raw(size) >> np.uint64(32)).astype(np.int64)
        return np.asarray(raw * n >> 32, np.int64)

    def between(self, low: int, high: int, size: int = 1) -> Ints:
        """Numbers low … high, each equally likely."""
        return self.below(high - low + 1, size) + low

    def chance(self, permille: int, size: int) -> npt.NDArray[np.bool_]:
        """True so many times out of a thousand."""
        return self.below(1000, size) < permille

    def arrivals(self, permille: int) -> int:
        """How many come in a second in which `permille` / 1000 come on average."""
        trials = 512  # of a small chance each: close to a Poisson distribution
        return int((self.below(trials * 1000, trials) < permille).sum())
