"""A query on Spark: what `query(…).spark(session)` gives."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.algebra.analysis.inputs import inputs_of
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.edges.watching.bound import Input, bound, reading
from xstreamcast.errors import error
from xstreamcast.spark.session import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from xstreamcast.algebra.program import Program
    from xstreamcast.edges.wire.decoder import OnError
    from xstreamcast.spark.watching.run import Running, SparkWatching
    from xstreamcast.spark.watching.sink import Write


_MORE: Final = ("max_per_batch", "interval", "partitions")


class SparkQuery:
    """A compiled query and the session that it runs in."""

    def __init__(
        self, telling: Callable[[str], Mapping[str, Program]], spark: SparkSession | None
    ) -> None:
        self._telling, self.session = telling, session(given=spark)

    def run(
        self, document: Any = None, /, *, as_of: str | None = None,
        between: tuple[str, str] | None = None, strategy: str = "auto", clock: str = "event",
        on_error: OnError = "quarantine", tell: str = "", **inputs: Any,
    ) -> DataFrame:  # fmt: skip
        """The answer over what is there, in order: place, ordinal, kind, item.

        An input is a fragment table, a file, XML, or a DataFrame with the columns of
        FragmentSource; else the value of an external variable.
        """
        from xstreamcast.edges.binding import Options as RunOptions
        from xstreamcast.spark.running.spark_run import SparkRun

        options = RunOptions(as_of, between, strategy, clock, on_error)
        made = SparkRun(self.session, self._telling(tell), document, inputs, options)
        return made.frame()

    def watch(self, document: Any = None, /, **inputs: Any) -> DataFrame:
        """A streaming DataFrame of changes: query, nth, time, diff, key, after, item.

        Inputs and options are those of `start`; what cannot be read again (a pipe, pieces of bytes,
        updates) needs checkpoint=DIR. It is written as any other: `.writeStream.….start()`.
        """
        return self.watching(inputs, document).changes()

    def updates(self, document: Any = None, /, **inputs: Any) -> DataFrame:
        """A streaming DataFrame of the answer: query, key, rank, item, deleted, time, version.

        The rows with the greatest version of each key that are not deleted, in the order of rank,
        are the answer. Each partition emits its own; no place puts them in order. Inputs and
        options are those of `watch`.
        """
        return self.watching(inputs, document).changes(updates=True)

    def start(self, write: Write, document: Any = None, /, **inputs: Any) -> Running:
        """Leave the query running: `write(epoch, [(query, change), …])` for each batch.

        An input is a path, a folder, a pattern, `table:PATH`, `-`, `tcp://HOST:PORT`, XML as bytes,
        an iterator over pieces of bytes, or a streaming DataFrame with the columns of
        FragmentSource; else the value of an external variable. policy, clock, follow, checkpoint,
        immutable, tell as in `watch`; `max_per_batch` fragments make a batch, `interval` ("1
        second") is the time between two. Inputs that are not followed end.
        """
        return self.watching(inputs, document).start(write)

    def watching(self, inputs: Mapping[str, Any], document: Any = None) -> SparkWatching:
        """The query over inputs and with options, by name."""
        from xstreamcast.spark.watching.run import SparkWatching, watchings

        words = dict(inputs)
        most = words.pop("max_per_batch", None)
        more = {one: words.pop(one) for one in _MORE[1:] if one in words}
        known = [one for one in WatchOptions.__slots__ if one in words]
        options = WatchOptions(**{one: words.pop(one) for one in known})
        request = self._bound(document, words, options)
        _check(words, request[0])
        made = watchings({"query": request}, options)
        return SparkWatching(self.session, made, options, most, **more)

    def _bound(
        self, document: Any, inputs: Mapping[str, Any], options: WatchOptions
    ) -> tuple[Mapping[str, Program], Mapping[str | None, Any], Any]:
        return bound_programs(self._telling(options.tell), document, inputs)


def bound_programs(
    programs: Mapping[str, Program], document: Any, inputs: Mapping[str, Any]
) -> tuple[Mapping[str, Program], Mapping[str | None, Any], Any]:
    """Programs, the sources by name and the values of variables; a DataFrame arrives."""
    plain = {
        name: Input(source) if isinstance(source, os.PathLike) or _is_frame(source) else source
        for name, source in inputs.items()
    }
    last = list(programs.values())[-1]
    _, variables = bound(last.variables, document, plain)
    sources: dict[str | None, Any] = {name: one for name, one in inputs.items()}
    if document is not None:
        sources[None] = document
    return {n: reading(one, plain) for n, one in programs.items()}, sources, variables


def _is_frame(source: Any) -> bool:
    return hasattr(source, "writeStream")


def _check(words: Mapping[str, Any], programs: Mapping[str, Program]) -> None:
    """An input that the query does not read is a mistake."""
    read = {name for one in programs.values() for name in inputs_of(one) if name}
    known = sorted(read | {v.local for one in programs.values() for v in one.variables})
    for name in words:
        if name not in known:
            near = get_close_matches(name, [*WatchOptions.__slots__, *_MORE, *known], n=1)
            raise error(
                "XSCU0005", f"{name} is neither an option nor an input of the query",
                hint=f"did you mean {near[0]}?" if near else f"it reads {', '.join(known)}",
            )  # fmt: skip
