"""A fragment table given to tasks: ranges of its units, each with all fragments below them.

A task receives files and row numbers, and reads them itself: payloads never pass through the JVM.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.batch.task import Question, answered, failing
from xstreamcast.edges.joining import taken_in
from xstreamcast.edges.table.batches import take_rows
from xstreamcast.edges.table.picking import Picked, RowSifting, latest_rows, read_picked
from xstreamcast.edges.table.reading import structure_in
from xstreamcast.edges.table.schema import arrow
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.history.history import History
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.guide import Guide
    from xstreamcast.edges.table.log import State
    from xstreamcast.edges.table.unit_index import UnitIndex
    from xstreamcast.model.structure import TagStructure


@dataclass(frozen=True, slots=True)
class Table:
    """A stream of a table as it stands after a commit."""

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
    are kept: only payloads tell which is repeated.
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
        sifting: RowSifting | None = None,
    ) -> None:  # fmt: skip
        self.question, self.guide, self.links = question, guide, links
        self.index, self.reach, self.sifting = index, reach, sifting
        self.apart, self.plain = apart, plain  # no id has two tags; nothing contains itself
        self.path, self.structure = table.path, table.structure
        stream = table.state.streams[table.stream]
        self.newest = stream.newest, stream.zoned

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for place in (one for batch in batches for one in batch.column(0).to_pylist()):
            yield from failing(lambda place=place: self._range(place))  # type: ignore[misc]

    def picked(self, place: int) -> list[Picked]:
        """The rows that a range needs."""
        low, high = self.reach.ranges[place]
        reach = self.reach
        found = self.index.picked(low, high, reach.labels, reach.tags, reach.until, reach.latest)
        if reach.until is None or not reach.latest:
            return list(found)
        return latest_rows(self.path, list(found), reach.latest)

    def _range(self, place: int) -> Iterator[Any]:
        low, high = self.reach.ranges[place]
        structure = self.structure
        tag, bare = structure[structure.root], structure.root in self.links
        root = self.index.root(low, high, self.reach.labels, tag, bare)
        rows = read_picked(
            self.path, self.picked(place), self.links, apart=self.apart, sifting=self.sifting
        )
        rows = arrow().concat_tables([root, rows.select(root.column_names)])
        question = self.question
        history = taken(question.name, structure, rows, plain=self.plain)
        history.newest, history.zoned = self.newest
        if self.guide is not None:
            history._guide = (len(history), history.structure), self.guide
        yield from answered(question, place, history)
