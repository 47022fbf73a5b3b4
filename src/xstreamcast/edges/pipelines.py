"""Queries that read each other's answers, evaluated once: each after those that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xstreamcast.algebra.analysis.inputs import inputs_of
from xstreamcast.edges.binding import Binding, Options
from xstreamcast.edges.immutable import TagPath, paths_of
from xstreamcast.edges.loading import Loaded, is_stream, load
from xstreamcast.errors import error
from xstreamcast.evaluate.results.results import lines
from xstreamcast.history.history import History
from xstreamcast.history.query import event_now
from xstreamcast.model.instant import show_instant
from xstreamcast.operators.feeds.answer import document_of
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.items import Items


def answered(
    programs: Mapping[str, Program], document: Any, inputs: Mapping[str, Any], options: Options
) -> tuple[Store, Items, list[Loaded]]:
    """The answer of the last program, with its store and what was read.

    Streams are read once, and `now` is the largest valid time of them all.
    """
    refuse_given(programs, inputs)
    read = {name for program in programs.values() for name in inputs_of(program)}
    paths = paths_of(next(iter(programs.values())))
    given, loaded = _loaded(inputs, read, options, paths)
    options = _one_clock(options, given)
    binding: Binding | None = None
    items: Items | None = None
    for name, program in programs.items():
        binding = Binding(program, given, options)
        items = binding.run(document)
        given[name] = document_of(lines(binding.store, items))
    assert binding is not None
    assert items is not None
    return binding.store, items, loaded


def refuse_given(programs: Mapping[str, Program], inputs: Mapping[str, Any]) -> None:
    """A stream is declared or given, not both."""
    for name in sorted(programs.keys() & inputs.keys()):
        raise error("XSCU0005", f'stream("{name}") is declared by the query; it cannot be given')


def _loaded(
    inputs: Mapping[str, Any], read: set[str | None], options: Options, paths: tuple[TagPath, ...]
) -> tuple[dict[str, Any], list[Loaded]]:
    store, given, loaded = Store(), dict(inputs), list[Loaded]()
    for name in sorted(read & set(inputs), key=str):
        source = inputs[str(name)]
        if not isinstance(source, History) and is_stream(source):
            found = load(
                str(name), source, store, on_error=options.on_error, keep=options.keep,
                immutable=paths,
            )  # fmt: skip
            loaded.append(found)
            given[str(name)] = found.history
    return given, loaded


def _one_clock(options: Options, given: Mapping[str, Any]) -> Options:
    """All programs have the clock of all streams; what is planned after it stays known."""
    if options.as_of or options.between or options.clock != "event":
        return options
    histories = {name: one for name, one in given.items() if isinstance(one, History)}
    now = event_now(histories) if histories else None
    return options if now is None else replace(options, clock=show_instant(now.instant, now.zoned))
