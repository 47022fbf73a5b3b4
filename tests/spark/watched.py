"""A query left running on Spark and in this process, over the same arrivals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xstreamcast import query
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.edges.watching.bound import Input
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.model.fragment import Refused

PATIENCE = 300.0  # seconds


class Left:
    """A query on Spark that is left running: what it has told, and what it says of it."""

    def __init__(self, spark: Any, text: str, document: Any = None, /, **given: Any) -> None:
        self.answer, self.changes = Accumulated(), list[Change]()
        self.running = query(text).spark(spark).start(self._take, document, **given)

    def _take(self, epoch: int, changes: list[tuple[str, Change]]) -> None:
        for _, change in changes:
            self.answer.apply(change)
            self.changes.append(change)

    def caught_up(self) -> list[str]:
        """The answer when all that has come is told."""
        self.running.query.processAllAvailable()
        return self.answer.items()

    def ended(self) -> list[str]:
        """The answer when the inputs have ended."""
        assert self.running.awaitTermination(PATIENCE)
        return self.answer.items()

    @property
    def refused(self) -> list[tuple[str, str | None, bytes]]:
        return told_of(self.running.totals.refused)


def told_of(refused: list[Refused]) -> list[tuple[str, str | None, bytes]]:
    return sorted((one.code, one.fragment or "", one.raw) for one in refused)


def locally(
    text: str, document: Any = None, /, *, inputs: dict[str, Any], **given: Any
) -> tuple[list[str], list[tuple[str, str | None, bytes]]]:
    """The answer of the local runner, and what it refused."""
    refused = list[Refused]()
    options = WatchOptions(keep=refused.append, **given)
    answer = Accumulated()
    for changes in query(text).watching(document, inputs, options).ticks():
        for change in changes:
            answer.apply(change)
    return answer.items(), told_of(refused)


def same(
    spark: Any, text: str, document: Any = None, /, *, inputs: dict[str, Any],
    make: Callable[[Any], Any] = lambda one: one, most: int | None = None, **given: Any,
) -> list[str]:  # fmt: skip
    """Both runners' answer; `make` turns a source into one that can be read a second time."""
    expected, refused = locally(text, document, inputs=dict(inputs), **given)
    again = {name: make(one) for name, one in inputs.items()}
    left = Left(spark, text, document, max_per_batch=most, **again, **given)
    assert left.ended() == expected
    assert left.refused == refused
    return expected


__all__ = ["Input", "Left", "locally", "same"]
