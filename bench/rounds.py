"""Fair timing: contenders take turns in one process, and the median of their rounds counts."""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Generic, TypeVar

T = TypeVar("T")

ROUNDS = 5
# A contender slower than this is not asked five times; its one run counts.
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Contender(Generic[T]):
    """Someone who does the whole job once, from the file to the answer."""

    name: str
    run: Callable[[], T]


@dataclass(frozen=True, slots=True)
class Timing(Generic[T]):
    """How long each counted round took, and the answer of the first."""

    name: str
    seconds: tuple[float, ...]
    answer: T

    @property
    def median(self) -> float:
        return median(self.seconds)


def interleaved(
    contenders: Sequence[Contender[T]], rounds: int = ROUNDS, patience: float = PATIENCE
) -> dict[str, Timing[T]]:
    """One warm-up each, then rounds in which all take part, each round in another order."""
    first = {one.name: _timed(one) for one in contenders}
    lasting = [one for one in contenders if first[one.name][0] <= patience]
    seconds: dict[str, list[float]] = {one.name: [] for one in lasting}
    for turn in range(rounds):
        for one in _rotated(lasting, turn):
            seconds[one.name].append(_timed(one)[0])
    return {
        name: Timing(name, tuple(seconds.get(name, [warm])), answer)
        for name, (warm, answer) in first.items()
    }


def _rotated(contenders: list[Contender[T]], turn: int) -> list[Contender[T]]:
    """Nobody always follows the same neighbour, whose caches and garbage it would inherit."""
    start = turn % len(contenders) if contenders else 0
    return contenders[start:] + contenders[:start]


def _timed(one: Contender[T]) -> tuple[float, T]:
    gc.collect()
    began = time.perf_counter()
    answer = one.run()
    return time.perf_counter() - began, answer
