"""The three strategies over histories: what of each stream is written, or read where it lies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra.parts import part_of
from xstreamcast.algebra.strategies import Choice, decide
from xstreamcast.history.view import View, instances, written
from xstreamcast.kernels.instances import FULL, GHOST, LINK

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.history.history import History
    from xstreamcast.tape.layout import I64, U8
    from xstreamcast.tape.store import Store


class Chosen:
    """The program as it is evaluated, and the nodes that its streams stand for."""

    def __init__(self, program: Program, streams: Mapping[str, Choice]) -> None:
        self.program, self.streams = program, streams
        self._views: dict[str, tuple[View, int]] = {}

    def nodes(self, history: History, name: str, until: int, store: Store) -> I64:
        """The nodes of a stream or of a part of it, in document order."""
        stream, tags = part_of(name)
        choice = self.streams[stream]
        if tags is None:
            modes = None if choice.strategy == "caq" else _modes(history, choice)
            tape = written(history, until, modes=modes).tape
            return np.array([store.add(tape) << 32], np.int64)
        lying = _in_place(history, choice, tags, until, store) if choice.in_place else None
        if lying is not None:
            return lying
        if stream not in self._views:
            made = _written(history, choice, until)
            self._views[stream] = made, store.add(made.tape)
        view, number = self._views[stream]
        return _of_tags(history, view, tags) | number << 32


def chosen(
    program: Program, histories: Mapping[str, History], strategy: str, links: bool = True
) -> Chosen:
    """Decide for every stream; `links` False: what stands above must be there."""
    guides = {name: history.guide() for name, history in histories.items()}
    made = decide(program, guides, strategy, links)
    return Chosen(made.program, made.streams)


def _written(history: History, choice: Choice, until: int) -> View:
    return written(
        history, until, modes=_modes(history, choice), bounds=choice.bounds, document=False,
        shells=choice.shells,
    )  # fmt: skip


def _modes(history: History, choice: Choice) -> U8:
    modes = np.full(len(history.types()), GHOST, np.uint8)
    modes[list(choice.full)] = FULL
    modes[list(choice.link)] = LINK
    return modes


def _of_tags(history: History, view: View, tags: frozenset[int]) -> I64:
    there = history.tagged(tags)[view.instances.place]
    rows: I64 = view.row[there & (view.instances.state == FULL)]
    return rows


def _in_place(
    history: History, choice: Choice, tags: frozenset[int], until: int, store: Store
) -> I64 | None:
    """The payloads where they lie, if they lie in document order and have no holes."""
    f = history.fragments
    found = instances(history, until, modes=_modes(history, choice))
    full = found.state == FULL
    place = found.place[full]
    first = np.concatenate((np.zeros(1, np.int64), f["holes"]))
    handles = f["tape"][place].astype(np.int64) << 32 | f["payload"][place]
    own = len(store._tapes) >= len(history.store._tapes) and store.names is history.store.names
    if not own or (first[place] < first[place + 1]).any() or (np.diff(handles) <= 0).any():
        return None
    lying: I64 = handles[history.tagged(tags)[place]]
    return lying
