"""Bytes of a feed to fragments, as its mapping says: what `Decoder` is for the wire.

message  →  units  →  fragments attached to the root, or to the unit they are nested in
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.lines import LinesAsXml, LineWriter
from xstreamcast.edges.mapping import messages as m
from xstreamcast.edges.mapping.aliases import Aliases
from xstreamcast.edges.mapping.asking import Whys, XPath
from xstreamcast.edges.mapping.beginning import first_bytes, tree_reading
from xstreamcast.edges.mapping.deliveries import Deliveries
from xstreamcast.edges.mapping.line_batches import line_batches
from xstreamcast.edges.mapping.progress import FeedProgress, MappingCounts
from xstreamcast.edges.mapping.removals import cancelled, coded, of_others
from xstreamcast.edges.mapping.statements import Statements, TakenBack, unsaid, without_statements
from xstreamcast.edges.mapping.structure import ROOT, KindTags, root_batch
from xstreamcast.edges.mapping.unchanged import Unchanged
from xstreamcast.edges.mapping.units import (
    Found,
    KindReader,
    Times,
    accepted,
    ends_of,
    refuse_messages,
    times_of,
)
from xstreamcast.errors import DataPlace, Error, error
from xstreamcast.evaluate.deep import deep
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.fragment import Arrival, FragmentBatch, Heartbeat, NewStructure, Op, Refused
from xstreamcast.model.instant import NOW, START
from xstreamcast.tape.fragments.unit_copy_kernels import taken_out
from xstreamcast.tape.names import Names
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.form import Mapping
    from xstreamcast.edges.wire.decoder import OnError
    from xstreamcast.tape.layout import I64, Tape
    from xstreamcast.tape.reading.units import UnitReading

# Messages that are evaluated together: a batch costs more than a small message does.
MOST: Final = 1000
LARGEST: Final = 4 << 20  # bytes of them


class MappingDecoder:
    """One feed on its way in; what does not fit is refused, as `Decoder` does it."""

    more: bool = False
    place: str = ""  # where the bytes come from that are being read
    lateness: int | None = None  # nothing that is older than now by more counts

    def __init__(
        self,
        name: str,
        mapping: Mapping,
        *,
        names: Names | None = None,
        ids: Ids | None = None,
        on_error: OnError = "quarantine",
    ) -> None:
        self.name, self.mapping, self.on_error = name, mapping, on_error
        self.names = Names() if names is None else names
        self.ids = Ids() if ids is None else ids
        self.counts, self.ended = MappingCounts(), False
        self.kinds = {one.name: KindReader(mapping, one) for one in mapping.units}
        time_path = mapping.time.path if mapping.time else None
        self._time = None if time_path is None else XPath(mapping, "message.time", time_path)
        self._tags = KindTags(mapping, self.names)
        self._deliveries = {u.name: Deliveries(mapping, u) for u in mapping.units if u.whole}
        self._unchanged: dict[str, Unchanged] = {}
        self._aliases = {u.name: Aliases() for u in mapping.units if u.alias}
        self._statements = {u.name: Statements() for u in mapping.units if u.statement}
        self.root = "", ""  # the root element of the first message, and its namespace
        self.arrived: int | None = None  # when what is read now came; None: now
        self._begun, self._arrival = False, 0
        self._held = bytearray()
        self._trees: UnitReading | None = None  # reads a root that may never close
        self._offset = 0
        self._lines = None if mapping.lines is None else LineWriter(mapping.lines)
        self._passing = False  # whether what is read counted before
        self.open_at: tuple[str, int | None] | None = None  # what may be read on

    @property
    def structure(self) -> Any:
        """The tag structure as far as it is known."""
        return self._tags.structure

    # -- bytes ------------------------------------------------------------------------------------

    def feed(self, chunk: bytes) -> list[Arrival]:
        """Read a chunk of an input; a document counts when the input has ended."""
        if self._lines is not None:
            return self._fed_lines(self._lines.feed(chunk), self.place)
        if self.mapping.level is None:
            self._held += chunk
            return []
        return self._fed_trees(chunk)

    def end_input(self) -> list[Arrival]:
        """End one input, a file of a folder say."""
        self.open_at = None
        if self._lines is not None:
            return self._fed_lines(self._lines.end_input(), self.place)
        held, self._held = bytes(self._held), bytearray()
        self._trees, self._offset = None, 0
        return self.messages([m.Message(held, self.place)]) if held.strip() else []

    def close(self) -> list[Arrival]:
        """End the stream; one without any unit has a root all the same."""
        return [*self.end_input(), *self.empty_root()]

    def empty_root(self) -> list[Arrival]:
        """The structure and the root, where no unit has come yet."""
        if self._begun:
            return []
        return [NewStructure(self.structure), root_batch(self.mapping, self.names, self.ids)]

    def pass_by(self, place: str, pieces: Iterable[bytes]) -> None:
        """Read what was read before: the messages in it count no more, the rest is awaited."""
        self._passing = True
        self.end_input()
        self.place = place
        for piece in pieces:
            self.feed(piece)
        self._passing = False

    def number_from(self, number: int) -> None:
        """What units without a key are numbered from."""
        for kind in self.kinds.values():
            kind.count = number

    def files(self, given: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[list[Arrival]]:
        """Read whole inputs, each by its name and in pieces; small ones together."""
        held: list[m.Message] = []
        size = 0
        for place, pieces in given:
            self.place = place
            if self.mapping.level is None:
                held.append(m.Message(b"".join(pieces), place))
                size += len(held[-1].data)
                if len(held) >= MOST or size >= LARGEST:
                    yield self.messages(held)
                    held, size = [], 0
                continue
            for piece in pieces:
                yield self.feed(piece)
            yield self.end_input()
        yield self.messages(held)

    def messages(self, given: Sequence[m.Message]) -> list[Arrival]:
        """Read whole messages, each a document or several one after another."""
        readable, broken = m.unpacked_messages(given)
        out: list[Arrival] = [self._unread(one) for one in broken]
        if self._lines is None:
            return out + self._each(m.batches(readable, self.names))
        for message in readable:
            out += self._fed_lines(self._lines.feed(message.data), message.place)
            out += self._fed_lines(self._lines.end_input(), message.place)
        return out

    def _fed_lines(self, written: LinesAsXml | None, place: str) -> list[Arrival]:
        """The messages of the lines that are complete."""
        return [] if written is None else self._each(line_batches(written, self.names, place))

    def _each(self, found: Iterable[m.Messages | m.Unread]) -> list[Arrival]:
        out: list[Arrival] = []
        for one in found:
            out += [self._unread(one)] if isinstance(one, m.Unread) else self._taken(one)
        return out

    def _fed_trees(self, chunk: bytes) -> list[Arrival]:
        """The messages that are complete in a root that may never close, or in none."""
        if self._trees is None:
            self._held += chunk
            first = first_bytes(bytes(self._held), self.mapping)
            if first is None:
                return []
            self._trees = tree_reading(self.mapping, self.names, self.name)
            self._held, chunk = bytearray(), first
        try:
            tape = self._trees.feed(chunk)
        except Error as why:
            self._trees = None
            self.counts.read += 1
            return [self._refuse("XSCM0002", None, why.message, chunk, self._offset)]
        self._offset += len(chunk)
        return [] if tape is None else self._taken(m.of_trees(tape, ""))

    # -- going on ---------------------------------------------------------------------------------

    def progress(self) -> FeedProgress | None:
        """Where it is, and what it knows of the units that came; None where it cannot be left."""
        there = None if self._trees is None else self._trees.resumption()
        if there is None and self._trees is not None:
            return None
        lines = None if self._lines is None else self._lines.progress()
        return FeedProgress(
            self._begun, self._arrival, self._offset, bytes(self._held),
            b"" if there is None else there.unclosed, lines, self._tags.known,
            {kind: one.last for kind, one in self._deliveries.items()},
            {kind: one.last for kind, one in self._unchanged.items()},
            {kind: one.last for kind, one in self._statements.items()}, self._aliases,
            {kind: one.count for kind, one in self.kinds.items() if not one.rule.key},
        )  # fmt: skip

    def go_on(self, there: FeedProgress) -> None:
        """Be where another decoder of this mapping was; its ids are there already."""
        self._begun, self._arrival, self._offset = there.begun, there.arrival, there.offset
        self._held = bytearray(there.held)
        if there.tree:
            self._trees = tree_reading(self.mapping, self.names, self.name)
            self._trees.feed(there.tree)
        if self._lines is not None and there.lines is not None:
            self._lines.go_on(there.lines)
        self._tags.go_on(there.tags)
        for kind, deliveries in there.deliveries.items():
            self._deliveries[kind].last = deliveries
        for kind, last in there.unchanged.items():
            self._unchanged.setdefault(kind, Unchanged()).last = last
        for kind, statements in there.statements.items():
            self._statements[kind].last = statements
        self._aliases |= there.aliases
        for kind, number in there.numbers.items():
            self.kinds[kind].count = number

    # -- messages ---------------------------------------------------------------------------------

    def _taken(self, batch: m.Messages) -> list[Arrival]:
        if self._passing:
            return []
        return deep(lambda: self._fragments_of(batch))  # one change of threads for all paths

    def _fragments_of(self, batch: m.Messages) -> list[Arrival]:
        """The fragments of a batch of messages."""
        self.counts.read += len(batch.documents)
        self.root = self.root if self.root[0] else m.root_name(batch)
        store = Store(self.names)
        number = store.add(batch.tape)
        handles = batch.documents | (number << 32)
        batch = replace(batch, documents=handles)
        failed: Whys = {}
        said = times_of(store, handles, self._time, self.mapping.time, failed)
        out: list[Arrival] = []
        found: dict[str, Found] = {}
        for rule in self.mapping.units:
            above = None if rule.within is None else found[rule.within]
            if above is not None:
                above = replace(above, row=above.row | (number << 32))
            found[rule.name] = self.kinds[rule.name].found(store, batch, said, above)
        refuse_messages(said, failed, found)
        out += [one for kind in found.values() for one in self._refusals(kind, batch)]
        out = [*self._begin(found, batch.tape), *self._batches(found, batch, said, store), *out]
        self.counts.timed += int(np.count_nonzero(said.there))
        clock = said.value[said.there].max(initial=START)
        if clock != START:
            out.append(Heartbeat(int(clock)))
        return out

    def _begin(self, found: dict[str, Found], tape: Tape) -> Iterator[Arrival]:
        """The structure, where it says more than before; at first the root."""
        for kind in found.values():
            kind_tags = self._tags.tags(kind.rule, tape.columns.name[kind.row])
            assert kind_tags is not None
        if self._tags.news():
            yield NewStructure(self._tags.structure)
        if not self._begun:
            self._begun = True
            yield root_batch(self.mapping, self.names, self.ids)

    def _batches(
        self, found: dict[str, Found], batch: m.Messages, said: Times, store: Store
    ) -> Iterator[Arrival]:
        """A batch of fragments for each kind; the kinds above first."""
        dropped = np.zeros(len(batch.tape), np.bool_)
        for kind in found.values():
            if kind.rule.within is not None:
                dropped[kind.row] = True
        for name, kind in found.items():
            above = None if kind.rule.within is None else found[kind.rule.within]
            made = self._fragments(kind, above, batch, said, dropped)
            if (own := self._deliveries.get(name)) is not None:
                made = own.taken(made, kind, above, batch, said, store, self.lateness)
            made = self._news(made, kind)
            self.counts.units += len(made) - int(np.count_nonzero(made.op == Op.REMOVE))
            self.counts.removals += int(np.count_nonzero(made.op == Op.REMOVE))
            if len(made):
                yield made

    def _fragments(
        self, kind: Found, above: Found | None, batch: m.Messages, said: Times, dropped: Any
    ) -> FragmentBatch:
        at = np.flatnonzero(accepted(kind))
        statements = self._statements.get(kind.rule.name)
        back: list[TakenBack] = []
        if statements is not None:
            at, back = statements.counting(kind, at)
        valid, zoned = self._valid(kind, at)
        ids = self.ids.codes(kind.id.heap, kind.id.offsets[:-1], kind.id.lengths.astype(np.int32))
        back = unsaid(back, ids[at], valid, kind.temporary[at])
        saying = np.array([row for row, _ in back], np.int64)
        tape, payload = taken_out(
            batch.tape, np.concatenate((kind.row[at], kind.row[saying])), dropped
        )
        payload, behind = payload[: len(at)], payload[len(at) :]
        removed = kind.remove[at]
        fallen = removed & kind.temporary[at]  # what it hid returns, as if it had never come
        to, flags = ends_of(kind, at, valid, zoned, fallen)
        parent = np.full(len(at), self.ids.code(ROOT), np.int32)
        if above is not None:
            codes = self.ids.codes(
                above.id.heap, above.id.offsets[:-1], above.id.lengths.astype(np.int32)
            )
            parent = codes[kind.parent[at]]
        tags = self._tags.tags(kind.rule, batch.tape.columns.name[kind.row[at]])
        clock = np.where(said.there, said.value, START)[kind.message[at]]
        offset = batch.tape.columns.start[kind.row[at]]
        if batch.offsets is not None:
            offset = batch.offsets[kind.message[at]]
        none = np.zeros(0, np.int32)
        made = FragmentBatch(
            tape, ids[at], tags, valid, flags,
            np.where(removed & ~fallen, Op.REMOVE, Op.FILLER).astype(np.uint8),
            np.where(removed & ~fallen, np.int32(-1), payload).astype(np.int32),
            offset, none, none, none, none,
            within=parent, to=None if (to == NOW).all() else to,
            version=kind.version[at] if kind.version.any() else None,
            said=clock if self._time is not None else None,
        )  # fmt: skip
        if statements is not None:
            statements.keep(kind, at, made)
        if back:
            made = without_statements(made, back, behind, kind.version[saying])
        return self._with_removals(made, kind, at)

    def _news(self, made: FragmentBatch, kind: Found) -> FragmentBatch:
        """Without what was said before, where nothing says since when it is true."""
        timeless = accepted(kind) & kind.timeless
        known = self._unchanged.get(kind.rule.name)
        if kind.rule.type == "event" or not (len(made) and (known is not None or timeless.any())):
            return made
        known = self._unchanged.setdefault(kind.rule.name, known or Unchanged())
        starts, widths = kind.id.offsets[:-1][timeless], kind.id.lengths[timeless]
        codes = self.ids.codes(kind.id.heap, starts, widths.astype(np.int32))
        return known.news(made, set(codes.tolist()))

    def _valid(self, kind: Found, at: I64) -> tuple[I64, Any]:
        """Valid times; what says none is true from its arrival on."""
        valid, zoned = kind.begins.value[at].copy(), kind.begins.zoned[at].copy()
        timeless = np.flatnonzero(~kind.begins.there[at])
        if len(timeless):
            now = time.time_ns() // 1000 if self.arrived is None else self.arrived
            self._arrival = max(self._arrival + 1, now)
            valid[timeless] = self._arrival + np.arange(len(timeless))
            zoned[timeless] = True
            self._arrival += len(timeless)
        return valid, zoned

    def _with_removals(self, made: FragmentBatch, kind: Found, at: I64) -> FragmentBatch:
        """And a removal of each unit that a message takes away by its key, or by another one."""
        known = self._aliases.get(kind.rule.name)
        gone = of_others(made, coded(kind, kind.cancels, at, self.ids))
        if known is None:
            return cancelled(made, gone)
        early = known.learn(made, coded(kind, kind.aliases, at, self.ids))
        return known.resolved(cancelled(made, gone), early, self.lateness)

    # -- what does not fit ------------------------------------------------------------------------

    def _refusals(self, kind: Found, batch: m.Messages) -> Iterator[Refused]:
        for row, (code, said) in sorted(kind.why.items()):
            if kind.skip[row]:
                continue
            message = batch.messages[int(kind.message[row])]
            whole = self._lines is not None
            raw = message.data if whole else batch.tape.serialize(int(kind.row[row]))
            where = f"{message.place}: " if message.place else ""
            yield self._refuse(code, kind.id.text(row), f"{where}{said}", raw, message.offset)

    def _unread(self, one: m.Unread) -> Refused:
        self.counts.read += 1
        message = one.message
        said = f"{message.place}: " * bool(message.place) + one.why.message
        return self._refuse("XSCM0002", None, said, message.data, message.offset)

    def _refuse(self, code: str, unit: str | None, said: str, raw: bytes, offset: int) -> Refused:
        self.counts.refused += 1
        if self.on_error == "stop" and not self._passing:
            raise error(code, said, at=DataPlace(self.name, unit, offset))
        return Refused(self.name, unit, offset, code, said, raw)
