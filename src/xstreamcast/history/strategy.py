"""The three strategies over histories: which parts of a stream are copied, or read in place."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra.analysis.strategies import Choice, decide
from xstreamcast.algebra.nodes.parts import part_of
from xstreamcast.history.planned import Shown
from xstreamcast.history.view import View, instances, written
from xstreamcast.tape.fragments.instance_kernels import FULL, GHOST, LINK

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.history.history import History
    from xstreamcast.tape.layout import I64, U8
    from xstreamcast.tape.store import Store


class ChosenStrategy:
    """The program as it is evaluated, and the nodes that its streams denote."""

    def __init__(
        self, program: Program, streams: Mapping[str, Choice], planned: int | None = None
    ) -> None:
        self.program, self.streams, self._planned = program, streams, planned
        self._views: dict[tuple[str, int], Shown] = {}

    def nodes(self, history: History, name: str, until: int, store: Store) -> I64:
        """The nodes of a stream or of a part of it, in document order."""
        stream, tags = part_of(name)
        choice = self.streams[stream]
        if tags is not None and choice.in_place and self._planned is None:
            lying = _in_place(history, choice, tags, until, store)
            if lying is not None:
                return lying
        shown = self._shown(history, stream, until, store, tags is None)
        if tags is None:
            return np.array([shown.number << 32], np.int64)
        return _of_tags(history, shown.view, tags) | shown.number << 32

    def document(self, history: History, name: str, until: int, store: Store) -> int:
        """The node of a complete view, for a stream without known paths."""
        key = f"doc {name}", until
        if key not in self._views:
            made = written(history, until, ahead=self._is_ahead(until))
            again = partial(self._of_document, history, name, store)
            self._views[key] = Shown(history, made, store.add(made.tape), again)
        return self._views[key].number << 32

    def shown(self, until: int) -> list[Shown]:
        """The views of the streams as of an instant."""
        return [one for (_, at), one in self._views.items() if at == until]

    def _is_ahead(self, until: int) -> bool:
        """Whether it is a view of what is planned."""
        return self._planned is not None and until > self._planned

    def _of_document(self, history: History, name: str, store: Store, until: int) -> Shown:
        self.document(history, name, until, store)
        return self._views[f"doc {name}", until]

    def _shown(self, history: History, stream: str, until: int, store: Store, whole: bool) -> Shown:
        if (stream, until) not in self._views:
            ahead = self._is_ahead(until)
            made = _written(history, self.streams[stream], until, whole, ahead)
            again = partial(self._again, history, stream, store, whole)
            self._views[stream, until] = Shown(history, made, store.add(made.tape), again)
        return self._views[stream, until]

    def _again(self, history: History, stream: str, store: Store, whole: bool, until: int) -> Shown:
        return self._shown(history, stream, until, store, whole)


def chosen(
    program: Program,
    histories: Mapping[str, History],
    strategy: str,
    links: bool = True,
    planned: int | None = None,
) -> ChosenStrategy:
    """Decide for every stream; `links` False: the elements above must be present.

    `planned`: after this instant projections see more than variables hold, so paths stay where they
    are written.
    """
    guides = {name: history.guide() for name, history in histories.items()}
    made = decide(program, guides, strategy, links, inline=planned is None)
    return ChosenStrategy(made.program, made.streams, planned)


def _written(history: History, choice: Choice, until: int, whole: bool, ahead: bool) -> View:
    if whole:
        modes = None if choice.strategy == "caq" else _modes(history, choice)
        return written(history, until, modes=modes, ahead=ahead)
    return written(
        history, until, modes=_modes(history, choice), bounds=choice.bounds, document=False,
        trims=choice.trims, ahead=ahead,
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
    """The payloads in place, if they are in document order and have no holes."""
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
