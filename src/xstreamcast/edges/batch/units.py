"""A fragment table given to tasks: ranges of its units, each with all fragments below them.

A task receives files and row numbers, and reads them itself: payloads never pass through the JVM.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.batch.root_elements import RootElements, StepUp
from xstreamcast.edges.batch.task import Question, answered, failing, rows
from xstreamcast.edges.joining import taken_in
from xstreamcast.edges.table.batches import take_rows
from xstreamcast.edges.table.picking import Picked, RowSifting, latest_rows, read_picked
from xstreamcast.edges.table.reading import structure_in
from xstreamcast.edges.table.schema import arrow
from xstreamcast.edges.table.searched import SearchedRows, read_searched
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.history.history import History
from xstreamcast.operators.batch.spine import no_spine, spine_numbers
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.guide import Guide
    from xstreamcast.edges.table.log import State
    from xstreamcast.edges.table.unit_index import UnitIndex
    from xstreamcast.edges.table.values.searching import PayloadSearch
    from xstreamcast.model.structure import TagStructure


@dataclass(frozen=True, slots=True)
class Table:
    """A stream of a table as it is after a commit."""

    path: Path
    stream: str
    state: State
    structure: TagStructure

    @staticmethod
    def of(path: Path, stream: str, state: State) -> Table:
        return Table(path.absolute(), stream, state, structure_in(state.streams[stream], stream))


@dataclass(frozen=True, slots=True)
class UnitReach:
    """What of a table tasks see: ranges of units, of some labels; tags; up to which instant.

    `latest`: tags that show their latest fragment alone. Of these, all that share its valid time
    are kept: only payloads show which is repeated.
    """

    ranges: tuple[tuple[int, int], ...]
    units: int
    labels: frozenset[int] | None = None
    tags: frozenset[int] | None = None
    until: int | None = None
    latest: frozenset[int] = frozenset()


def taken(name: str, structure: TagStructure, rows: Any, *, plain: bool) -> History:
    """Rows of a table in a history of their own."""
    store = Store()
    decoder = Decoder(name, structure, names=store.names)
    history = History(name, structure, store=store, ids=decoder.ids)
    take_rows(history, decoder, rows, [], plain=plain)
    taken_in(history, decoder.close(), decoder, store, [])
    return history


class UnitsTask:
    """The query evaluated over the units of a range.

    `links`: the tags of whose fragments only the holes are seen, by their name.
    """

    def __init__(
        self, question: Question, table: Table, index: UnitIndex, reach: UnitReach,
        guide: Guide | None, links: Mapping[int, str], *, apart: bool, plain: bool,
        sifting: RowSifting | None = None, search: PayloadSearch | None = None,
        up: StepUp | None = None,
    ) -> None:  # fmt: skip
        self.search, self.up = search, up
        self.question, self.guide, self.links = question, guide, links
        self.index, self.reach, self.sifting = index, reach, sifting
        self.apart, self.plain = apart, plain  # no id has two tags; nothing contains itself
        self.path, self.structure = table.path, table.structure
        stream = table.state.streams[table.stream]
        self.newest = stream.newest, stream.zoned

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        places = (one for batch in batches for one in batch.column(0).to_pylist())
        if self.up is not None:
            yield from self._around(places, RootElements(self.index, self.up))
            return
        for place in places:
            yield from failing(lambda place=place: self._range(place))  # type: ignore[misc]

    def _around(self, places: Iterable[int], elements: RootElements) -> Iterator[Any]:
        """The ranges that may lead to elements of the root that were not found before."""
        met: set[int] = set()
        for place in places:
            if elements.led_to(*self.reach.ranges[place], self.reach.labels) <= met:
                yield rows(0, place, value=no_spine())
                continue
            for one in failing(lambda place=place: self._range(place)):  # type: ignore[misc]
                if one.column("part")[0].as_py() == 0:
                    met.update(spine_numbers(one.column("value")[0].as_py()))
                yield one

    def picked(self, place: int) -> list[Picked]:
        """The rows that a range needs."""
        low, high = self.reach.ranges[place]
        reach = self.reach
        found = self.index.picked(low, high, reach.labels, reach.tags, reach.until, reach.latest)
        if reach.until is None or not reach.latest:
            return list(found)
        return latest_rows(self.path, list(found), reach.latest)

    def _rows(self, place: int) -> SearchedRows:
        """The rows below units of a range, as far as they may be seen."""
        picked, links = self.picked(place), self.links
        if self.search is not None:
            return read_searched(self.path, picked, links, self.search, apart=self.apart)
        found = read_picked(self.path, picked, links, apart=self.apart, sifting=self.sifting)
        return SearchedRows(found, None)

    def _range(self, place: int) -> Iterator[Any]:
        low, high = self.reach.ranges[place]
        structure = self.structure
        tag, bare = structure[structure.root], structure.root in self.links
        found = self._rows(place)
        root = self.index.root(low, high, self.reach.labels, tag, bare, found.units)
        every = arrow().concat_tables([root, found.rows.select(root.column_names)])
        question = self.question
        history = taken(question.name, structure, every, plain=self.plain)
        history.newest, history.zoned = self.newest
        if self.guide is not None:
            history._guide = (len(history), history.structure), self.guide
        yield from answered(question, place, history)
