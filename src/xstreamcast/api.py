"""The Python API: a query, its answer, and the changes of its answer."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

if TYPE_CHECKING:
    from datetime import timedelta

    import pandas  # type: ignore[import-untyped]
    import pyarrow

    from xstreamcast.algebra.lowering import Modules
    from xstreamcast.algebra.program import GlobalVariable, Program
    from xstreamcast.edges.binding import Options
    from xstreamcast.edges.loading import Keep, Loaded
    from xstreamcast.edges.watching import Options as WatchOptions
    from xstreamcast.edges.watching import Watching
    from xstreamcast.edges.watching.chosen import Chosen
    from xstreamcast.edges.wire.decoder import OnError
    from xstreamcast.model.change import Change
    from xstreamcast.model.items import Items
    from xstreamcast.model.query_limits import QueryLimits
    from xstreamcast.spark.query import SparkQuery
    from xstreamcast.tape.store import Store

# The programs of the body ("") and of declared streams, what is read first; the inputs of each.
Compiled: TypeAlias = "tuple[dict[str, Program], dict[str, frozenset[str | None]]]"
Path: TypeAlias = "str | os.PathLike[str]"
Duration: TypeAlias = "str | timedelta"
Source: TypeAlias = "str | os.PathLike[str] | bytes"


def query(text: str, *, name: str = "query", module_path: Sequence[Path] = ()) -> Query:
    """Compile a query: a mistake in its text is an error here, not when it runs.

    `module_path` names the folders of the library modules that it imports.
    """
    return Query(text, name, module_path)


def queries(texts: Mapping[str, str], *, module_path: Sequence[Path] = ()) -> Queries:
    """Compile several queries that run together; `watch` gives changes with the query's name.

    Those that differ only in constants they compare with run as one: ten thousand of them cost
    about what one costs.
    """
    return Queries(texts, module_path)


def compiled(
    text: str, name: str = "query", base_uri: str | None = None, modules: Modules | None = None
) -> Program:
    """The program of a query text; functions registered meanwhile are seen.

    `modules` finds the library modules that it imports; what they hold may change between calls.
    """
    from xstreamcast.functions.registry import edition

    if modules is not None:
        return _made(text, name, base_uri, modules)[0][""]
    return _compiled(text, name, base_uri, edition())[0][""]


@lru_cache(maxsize=1024)
def _compiled(text: str, name: str, base_uri: str | None, _edition: int) -> Compiled:
    return _made(text, name, base_uri, None)


def _made(text: str, name: str, base_uri: str | None, modules: Modules | None) -> Compiled:
    from xstreamcast.algebra.lowering import lower
    from xstreamcast.algebra.queries import programs
    from xstreamcast.evaluate.deep import deep
    from xstreamcast.rewrite.optimise import optimise
    from xstreamcast.syntax import parse

    given: dict[str, Any] = {"base_uri": base_uri}
    if modules is not None:
        given["modules"] = modules
    return deep(
        lambda: programs(parse(text, name), lambda module: optimise(lower(module, **given)))
    )


class Continuous(ABC):
    """What can be kept running: a query, or several."""

    @abstractmethod
    def watching(self, document: Any, inputs: Mapping[str, Any], options: WatchOptions) -> Watching:
        """The continuous query over inputs of any name; its `ticks` yields changes."""

    def watch(
        self,
        document: Any = None,
        /,
        *,
        policy: str = "optimistic",
        follow: bool = False,
        batch: int = 1000,
        clock: str = "event",
        on_error: OnError = "quarantine",
        keep: Keep | None = None,
        tell: str = "",
        lateness: Duration | None = None,
        max_skew: Duration | None = None,
        immutable: Sequence[str] = (),
        duration: Duration | None = None,
        limit: int | None = None,
        quarantine: Path | None = None,
        max_quarantine: int = 1 << 30,
        max_memory: int | None = None,
        metrics: Path | None = None,
        metrics_every: Duration = "10s",
        checkpoint: Path | None = None,
        snapshot_every: int = 16 << 20,
        limits: QueryLimits | None = None,
        say: Callable[[str], None] | None = None,
        **inputs: Any,
    ) -> Changes:
        """Keep the query running: the changes of its answer, until its inputs end.

        with query.watch(roads="feed/", follow=True) as changes:
            for change in changes: ...

        An input is a path, a folder, a pattern, XML, or an iterator over pieces of bytes; an
        external variable may denote one, unless it is given a value (a string is one). `tell`
        names a declared stream whose changes are emitted instead of the body's.
        `keep` is called with each refused fragment, `say` with each note.

        The other options are those of the command `watch`; a duration is "30s", "PT5M" or a
        timedelta. `duration` and `limit` stop it after a time, or after so many changes; `limits`
        bounds each evaluation. With a `checkpoint`, a later call with the same arguments
        continues: what was read counts once all changes that it caused were taken; others come
        again.
        """
        from xstreamcast.edges.watching.chosen import Chosen

        chosen = Chosen(
            policy=policy, follow=follow, batch=batch, clock=clock, on_error=on_error, keep=keep,
            tell=tell, lateness=lateness, max_skew=max_skew, immutable=immutable,
            duration=duration, limit=limit, quarantine=quarantine, max_quarantine=max_quarantine,
            max_memory=max_memory, metrics=metrics, metrics_every=metrics_every,
            checkpoint=checkpoint, snapshot_every=snapshot_every, say=say,
        )  # fmt: skip
        return Changes(
            lambda: chosen.changes(partial(self.watching, document, inputs)), limits, chosen
        )


class Query(Continuous):
    """A compiled query; it can be evaluated any number of times."""

    def __init__(self, text: str, name: str = "query", module_path: Sequence[Path] = ()) -> None:
        from xstreamcast.functions.registry import edition

        self.text = text
        self.modules: Modules | None = None
        if module_path:
            from xstreamcast.edges.module_path import ModulePath

            self.modules = ModulePath(module_path)
            self.programs, self._reads = _made(text, name, None, self.modules)
        else:
            self.programs, self._reads = _compiled(text, name, None, edition())
        self.program = self.programs[""]

    @property
    def variables(self) -> tuple[GlobalVariable, ...]:
        """The variables that the query declares."""
        return self.program.variables

    def telling(self, name: str) -> dict[str, Program]:
        """The programs that a declared stream needs, its own last; "" is the body of the query."""
        from xstreamcast.algebra.queries import needed
        from xstreamcast.errors import error

        if name not in self.programs:
            declared = ", ".join(one for one in self.programs if one) or "none"
            raise error(
                "XSCU0005", f"the query declares no stream {name}", hint=f"it declares {declared}"
            )
        wanted = needed(name, self._reads)
        return {one: made for one, made in self.programs.items() if one in wanted}

    def run(
        self,
        document: Source | None = None,
        /,
        *,
        as_of: str | None = None,
        between: tuple[str, str] | None = None,
        strategy: str = "auto",
        clock: str = "event",
        on_error: OnError = "quarantine",
        keep: Keep | None = None,
        limits: QueryLimits | None = None,
        **inputs: Any,
    ) -> Answer:
        """Evaluate the query once.

        `document` is the context item. A named input is a stream of fragments or a document (path,
        bytes, History) if the query contains stream("name") or doc("name"), and otherwise the value
        of the external variable. `keep` is called with each refused fragment.
        `limits` bounds this run: `QueryLimits(query_timeout=30)`.
        """
        from xstreamcast.edges.binding import Options
        from xstreamcast.model.query_limits import limited

        options = Options(as_of, between, strategy, clock, on_error, keep)
        with limited(limits):
            return self.answer(document, inputs, options)

    def answer(
        self, document: Source | None, inputs: Mapping[str, Any], options: Options, tell: str = ""
    ) -> Answer:
        """Evaluate over inputs of any name; `tell` names a declared stream to answer instead."""
        from xstreamcast.edges.binding import Binding

        programs = self.telling(tell)
        if self.modules is not None:
            options = replace(options, modules=self.modules)
        if len(programs) > 1:
            from xstreamcast.edges.pipelines import answered  # needs a compiler

            return Answer(*answered(programs, document, inputs, options))
        binding = Binding(programs[tell], inputs, options)
        items = binding.run(document)
        return Answer(binding.store, items, binding.loaded, programs[tell])

    def watching(self, document: Any, inputs: Mapping[str, Any], options: WatchOptions) -> Watching:
        """The continuous query over inputs of any name; its `ticks` yields changes."""
        from xstreamcast.edges.watching import Watching
        from xstreamcast.edges.watching.bound import bound, reading

        sources, variables = bound(self.variables, document, inputs)
        programs = {
            name: reading(program, inputs) for name, program in self.telling(options.tell).items()
        }
        return Watching(programs, sources, options, variables)

    def spark(self, session: Any = None) -> SparkQuery:
        """The query on Spark: in the given session, or in one of its own."""
        from xstreamcast.spark.query import SparkQuery

        return SparkQuery(self.telling, session)


class Queries(Continuous):
    """Several queries that run together, each with its own changes."""

    def __init__(self, texts: Mapping[str, str], module_path: Sequence[Path] = ()) -> None:
        from xstreamcast.operators.query_set import query_set

        self.modules: Modules | None = None
        if module_path:
            from xstreamcast.edges.module_path import ModulePath

            self.modules = ModulePath(module_path)
        self._declared: dict[tuple[str, str], GlobalVariable] = {}
        self.set = query_set(self._compiled(texts))

    @property
    def variables(self) -> tuple[GlobalVariable, ...]:
        """The variables that the queries declare."""
        return tuple(self._declared.values())

    def _compiled(self, texts: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Program]]]:
        """The programs of one query after the other: those that others stand for are let go."""
        for name, text in texts.items():
            programs = _made(text, name, None, self.modules)[0]
            for one in programs[""].variables:
                self._declared.setdefault((one.uri, one.local), one)
            yield name, programs

    def watching(self, document: Any, inputs: Mapping[str, Any], options: WatchOptions) -> Watching:
        from xstreamcast.edges.watching import Watching
        from xstreamcast.edges.watching.bound import bound, reading
        from xstreamcast.errors import error

        if options.tell:
            raise error("XSCU0005", "tell needs one query; all queries of a set are emitted")
        sources, variables = bound(self.variables, document, inputs)
        programs = {name: reading(one, inputs) for name, one in self.set.programs.items()}
        return Watching(programs, sources, options, variables, queries=self.set)


class Changes:
    """The changes of an answer, one by one; reading begins with the first that is taken.

    with query.watch(roads="feed/") as changes: ...
    async for change in query.watch(roads="feed/"): ...

    `close`, or the end of `with`, closes the inputs.
    """

    def __init__(
        self, begin: Callable[[], Generator[Change]], limits: QueryLimits | None, chosen: Chosen
    ) -> None:
        self._limits, self._chosen = limits, chosen
        self._changes = begin()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Change:
        from xstreamcast.model.query_limits import limited

        with limited(self._limits):
            return next(self._changes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop reading, and close the inputs."""
        self._changes.close()

    def report(self) -> list[str]:
        """What was read, emitted and kept so far, a line each."""
        watching = self._chosen.watching
        return [] if watching is None else watching.report()

    def measured(self) -> dict[str, Any]:
        """The numbers that `metrics` writes, as they are now; none before the first change."""
        return self._chosen.measured()

    async def __aiter__(self) -> AsyncGenerator[Change]:
        """The same changes; other tasks run while the next one is computed in a thread."""
        from asyncio import to_thread
        from inspect import GEN_RUNNING, getgeneratorstate

        try:
            while (change := await to_thread(next, self, None)) is not None:
                yield change
        finally:
            # cancelled while the thread waits for input: it ends by itself
            if getgeneratorstate(self._changes) == GEN_RUNNING:
                if self._chosen.watching is not None:
                    self._chosen.watching.stop()
            else:
                self.close()


class Answer:
    """The items of an answer, as Python values and nodes."""

    def __init__(
        self,
        store: Store,
        items: Items,
        loaded: Sequence[Loaded] = (),
        program: Program | None = None,
    ) -> None:
        self.store = store
        self.items = items
        self.loaded = loaded  # the streams it was evaluated over, with their counts
        self.program = program

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        """Items as plain Python values.

        Numbers are numbers, maps dicts, arrays lists, times those of `datetime`, and nodes have
        `xml`, `name`, `string` and `["child"]`.
        """
        from xstreamcast.evaluate.plain import plain

        for tag, value in self.items.pairs():
            yield plain(self.store, tag, value)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each item: its attributes and children, or the entries of a map, by name."""
        from xstreamcast.edges.columns import rows
        from xstreamcast.evaluate.results import records

        return rows(records(self.store, self.items))

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a DataFrame of pandas."""
        from xstreamcast.edges.columns import columns
        from xstreamcast.edges.sources.extras import needed

        return needed("pandas").DataFrame(columns(self.rows()))

    def to_arrow(self) -> pyarrow.Table:
        """The rows as a table of Arrow."""
        from xstreamcast.edges.columns import columns
        from xstreamcast.edges.sources.extras import needed

        return needed("pyarrow").table(columns(self.rows()))

    def lines(self) -> Iterator[str]:
        """One line per item: nodes as XML, maps and arrays as JSON, atomic values as strings."""
        from xstreamcast.evaluate.results import lines

        return lines(self.store, self.items)

    def serialize(self, **parameters: str) -> str:
        """The whole answer as one text, by the query's output declarations and these parameters.

        answer.serialize(method="json", indent="yes")
        """
        from xstreamcast.evaluate.serializing import answer_text

        return answer_text(self.store, self.items, self.program, parameters)

    def __repr__(self) -> str:
        return f"<Answer: {len(self)} items>"
