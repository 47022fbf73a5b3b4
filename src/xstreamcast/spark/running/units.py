"""A fragment table given to tasks: ranges of its units, each with all fragments below them.

A task is told files and rows, and reads them itself: payloads never pass through the JVM.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.joining import taken_in
from xstreamcast.edges.table.batches import take_rows
from xstreamcast.edges.table.picking import Picked, picked_rows, read_picked
from xstreamcast.edges.table.reading import structure_in
from xstreamcast.edges.table.schema import arrow
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.history.history import History
from xstreamcast.spark.running.task import AGAIN, Question, answered, failing, rows
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.guide import Guide
    from xstreamcast.edges.table.log import State
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
class Told:
    """What a task reads: the root of its range, and rows of files."""

    line: bytes
    picked: tuple[Picked, ...]


def taken(
    name: str, structure: TagStructure, lines: Iterable[bytes], found: Any = None, *,
    plain: bool = False,
) -> History:  # fmt: skip
    """Fragments in their wire form, then rows of a table, in a history of their own."""
    store = Store()
    decoder = Decoder(name, structure, names=store.names)
    history = History(name, structure, store=store, ids=decoder.ids)
    for some in lines:
        taken_in(history, decoder.feed(some), decoder, store, [])
    if found is not None:
        take_rows(history, decoder, found, [], plain=plain)
    taken_in(history, decoder.close(), decoder, store, [])
    return history


class UnitsTask:
    """The query asked of the units of a range.

    `links`: the tags of whose fragments only the holes are seen, by their name.
    """

    def __init__(
        self, question: Question, table: Table, guide: Guide | None, links: Mapping[int, str],
        *, apart: bool, plain: bool, depth: int | None = None,
        known: Sequence[Told] | None = None,
    ) -> None:  # fmt: skip
        self.question, self.guide, self.links = question, guide, links
        self.apart, self.plain = apart, plain  # no id has two tags; nothing contains itself
        self.depth = depth  # how many levels of fragments joins followed
        self.known = known  # what each task reads, where the driver has followed the links
        self.path, self.stream, self.structure = table.path, table.stream, table.structure
        stream = table.state.streams[table.stream]
        self.newest = stream.newest, stream.zoned
        files = () if known is not None else table.state.files_of(table.stream)
        self.files = {(file.tag, Path(file.path).name): file for file in files}

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        if self.known is not None:
            for place in (one for batch in batches for one in batch.column(0).to_pylist()):
                mine = self.known[place]
                yield from failing(lambda mine=mine, place=place: self._range(mine, place))  # type: ignore[misc]
            return
        told = arrow().Table.from_batches(list(batches))
        pc = arrow().compute
        for place in sorted(told["range"].unique().to_pylist()):
            mine = told.filter(pc.equal(told["range"], place))
            yield from failing(lambda mine=mine, place=place: self._joined(mine, place))  # type: ignore[misc]

    def _joined(self, told: Any, place: int) -> Iterator[Any]:
        """A range whose rows Spark found."""
        pc = arrow().compute
        line = told.filter(pc.is_valid(told["root"]))["root"].to_pylist()[0]
        told = told.filter(pc.is_null(told["root"]))
        if self._is_cut_off(told):
            yield rows(AGAIN, place)
            return
        yield from self._range(Told(line, tuple(picked_rows(self.files, told))), place)

    def _is_cut_off(self, told: Any) -> bool:
        """Whether fragments of the last level that was followed have holes themselves."""
        pc = arrow().compute
        assert self.depth is not None
        last = told.filter(pc.equal(told["level"], self.depth - 1))
        return bool(pc.any(pc.greater(last["holes"], 0)).as_py())

    def _range(self, told: Told, place: int) -> Iterator[Any]:
        found = read_picked(self.path, told.picked, self.links, apart=self.apart)
        question = self.question
        history = taken(question.name, self.structure, [told.line], found, plain=self.plain)
        history.newest, history.zoned = self.newest
        if self.guide is not None:
            history._guide = (len(history), history.structure), self.guide
        yield from answered(question, place, history)
