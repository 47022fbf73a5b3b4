"""Random draws that fall the same on every machine: PCG64's raw bits and integer arithmetic."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import TypeVar

import numpy as np

T = TypeVar("T")

WHOLE = 1 << 32
BLOCK = 4096


class Dice:
    """One endless row of draws; another `stream` of the same seed is another row."""

    def __init__(self, seed: int, stream: str) -> None:
        bits = np.random.PCG64(np.random.SeedSequence((seed, *stream.encode())))
        self.draw = chain.from_iterable(_blocks(bits)).__next__

    def below(self, n: int) -> int:
        """0 … n-1, each equally likely."""
        return self.draw() * n >> 32

    def one(self, outcomes: Sequence[T]) -> T:
        """One of `outcomes`, each equally likely: a distribution is a sequence of outcomes."""
        return outcomes[self.draw() * len(outcomes) >> 32]

    def chance(self, percent: float) -> bool:
        """True so many times out of a hundred."""
        return self.draw() * 100 < percent * WHOLE

    def middling(self, n: int) -> int:
        """0 … n-1, bell-shaped around the middle."""
        return (self.draw() + self.draw() + self.draw()) * n // (3 * WHOLE)


def _blocks(bits: np.random.PCG64) -> Iterator[list[int]]:
    # Only raw bits: numpy may improve its distributions between versions, never these.
    while True:
        yield (bits.random_raw(BLOCK) >> np.uint64(32)).tolist()


def geometric(mean: float, size: int = 1024) -> tuple[int, ...]:
    """`size` equally likely outcomes 0, 1, 2, … that thin out geometrically around `mean`.

    Only multiplication is used, which IEEE 754 fixes to the bit; a logarithm may differ by machine.
    """
    fade = mean / (1 + mean)
    outcomes, k, beyond = [], 0, fade
    for i in range(size):
        while 1 - beyond < (i + 0.5) / size:
            k, beyond = k + 1, beyond * fade
        outcomes.append(k)
    return tuple(outcomes)


def zipf(items: Sequence[T], *, flat: int = 20, size: int = 1 << 16) -> tuple[T, ...]:
    """`size` equally likely outcomes; the item of rank r stands there about 1/(r + flat) often."""
    reach = list(accumulate(1 / (rank + flat) for rank in range(len(items))))
    outcomes, rank = [], 0
    for i in range(size):
        while rank < len(items) - 1 and reach[rank] < (i + 0.5) / size * reach[-1]:
            rank += 1
        outcomes.append(items[rank])
    return tuple(outcomes)


def mostly(first: T, percent: int, others: Sequence[T]) -> tuple[T, ...]:
    """Outcomes of which `percent` are `first` and the rest are `others`, alike among themselves."""
    times = percent * len(others)
    return (first,) * times + tuple(others) * (100 - percent)
