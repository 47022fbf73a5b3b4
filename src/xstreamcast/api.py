"""The Python API: queries, evaluated once, kept running, or handed to Spark."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from xstreamcast.edges.answer import Answer
from xstreamcast.edges.continuous import Changes, Continuous, Path

if TYPE_CHECKING:
    from xstreamcast.algebra.lowering import Modules
    from xstreamcast.algebra.program import GlobalVariable, Program
    from xstreamcast.edges.binding import Options
    from xstreamcast.edges.loading import Keep
    from xstreamcast.edges.watching import Watching
    from xstreamcast.edges.watching import WatchOptions as WatchOptions
    from xstreamcast.edges.wire.decoder import OnError
    from xstreamcast.model.query_limits import QueryLimits
    from xstreamcast.spark.query import SparkQuery

# The programs of the body ("") and of declared streams, what is read first; the inputs of each.
Compiled: TypeAlias = "tuple[dict[str, Program], dict[str, frozenset[str | None]]]"
Source: TypeAlias = "str | os.PathLike[str] | bytes"

__all__ = ["Answer", "Changes", "Queries", "Query", "compiled", "queries", "query"]


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
    from xstreamcast.model.uncollected import uncollected
    from xstreamcast.rewrite.optimise import optimise
    from xstreamcast.syntax import parse

    given: dict[str, Any] = {"base_uri": base_uri}
    if modules is not None:
        given["modules"] = modules
    with uncollected():  # trees and plans hold no cycles
        return deep(
            lambda: programs(parse(text, name), lambda module: optimise(lower(module, **given)))
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
        from xstreamcast.operators.watching.query_set import query_set

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
        """The programs of one query after the other: those that others replace are dropped."""
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
