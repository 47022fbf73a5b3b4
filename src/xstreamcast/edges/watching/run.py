"""A query left running over its sources: pieces in turn, a tick after each batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.algebra.analysis.infinite import refuse_blocked
from xstreamcast.algebra.analysis.inputs import inputs_of
from xstreamcast.algebra.analysis.timing import asks_clock
from xstreamcast.edges.given_names import names_of_inputs
from xstreamcast.edges.immutable import immutable_tags, paths_of
from xstreamcast.edges.line_documents import form_of_source
from xstreamcast.edges.mapping.finding import mapping_of
from xstreamcast.edges.pipelines import refuse_given
from xstreamcast.edges.snapshot.folder import SnapshotFolder
from xstreamcast.edges.sources import Burst
from xstreamcast.edges.watching.arriving import ArrivalLimits, Arriving
from xstreamcast.edges.watching.failing import FailingSince
from xstreamcast.edges.watching.journal import Covered, Journal, Line
from xstreamcast.edges.watching.metrics import refuse_memory
from xstreamcast.edges.watching.options import WatchOptions
from xstreamcast.edges.watching.pieces import (
    END,
    WAIT,
    files_of,
    is_pipe,
    pieces_and_bursts,
    shows_kind,
)
from xstreamcast.edges.watching.replayed import Pieces, again, bytes_of, then
from xstreamcast.edges.watching.reporting import reported
from xstreamcast.edges.watching.restarting import replay
from xstreamcast.edges.watching.snapshots import Snapshots, owner_of, skip_covered
from xstreamcast.edges.watching.started import started
from xstreamcast.errors import error
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.model.query_limits import query_limits
from xstreamcast.operators.snapshot.arrow import Unreadable
from xstreamcast.operators.watching.inputs import Kind
from xstreamcast.operators.watching.network import Network
from xstreamcast.operators.watching.query_set import QuerySet
from xstreamcast.operators.watching.watch import Watch
from xstreamcast.rewrite.known import bodies

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.edges.quarantine import Quarantine
    from xstreamcast.edges.sinks.forms import OutputForm
    from xstreamcast.model.change import Change
    from xstreamcast.model.fragment import Refused
    from xstreamcast.model.items import Items
    from xstreamcast.model.structure import TagStructure

_SNAPSHOT_EVERY: Final = 16 << 20
_OVER: Final = b"over"  # distinguished from a piece by identity, not by content


@dataclass(slots=True)
class Watching:
    """Sources by name, read in turn; `ticks` gives the changes of each tick.

    The programs read each other's answers under their names, and the changes of the last one are
    emitted; with `queries`, the programs are those of a set, and the changes of all queries are.
    """

    programs: Mapping[str, Program]
    sources: Mapping[str | None, Any]
    options: WatchOptions = field(default_factory=WatchOptions)
    variables: Mapping[tuple[str, str], Items] = field(default_factory=dict)
    sink: Callable[[], int] = lambda: 0  # how many bytes the sink holds, on disk
    quarantine: Callable[[], int] | None = None  # how many bytes the quarantine holds, on disk
    queries: QuerySet | None = None
    form: OutputForm | None = None  # what must know the changes that were written before
    watch: Watch | Network | None = None
    journal: Journal | None = None
    snapshots: Snapshots | None = None
    refused: int = 0
    ticked: int = 0
    emitted: int = 0
    _until: float | None = None  # when it stops, by the monotonic clock
    _by_wall: bool = False  # now is what the clock on the wall says
    _failing: FailingSince = field(default_factory=FailingSince)
    _busy: bool = False  # whether something came when the inputs were last gone through
    _counted: bool = False  # whether the journal records all input so far
    _arrived: int | None = None  # when the last piece was read, where that may matter
    _open: dict[str | None, tuple[Pieces, Arriving]] = field(default_factory=dict)
    _arriving: dict[str | None, Arriving] = field(default_factory=dict)

    def __post_init__(self) -> None:
        refuse_given(self.programs, {name: one for name, one in self.sources.items() if name})
        missing = [name for name in self.inputs if name not in self.sources]
        for name in missing:
            named = f"-i {name}=SOURCE" if name else "-i SOURCE"
            given = [one for one in self.sources if one]
            raise error(
                "XSCU0001", f"the query reads an input that is not given: {named}",
                hint=names_of_inputs(given, name or "") if given else None,
            )  # fmt: skip
        if self.options.checkpoint is not None:
            text = self.program.source.text if self.queries is None else self.queries.label
            mappings = [mapping_of(self.sources[name])[0] for name in self.inputs]
            owner = owner_of(text, self.inputs, self.variables, self.options, mappings)
            folder = SnapshotFolder(Path(self.options.checkpoint), self.options.say)
            every = self.options.snapshot_every or _SNAPSHOT_EVERY
            self.snapshots = Snapshots(folder, owner, every, self.options.say)
            output = self.options.output
            self.journal = Journal(self.options.checkpoint, text, self.snapshots.find, output)

    @property
    def program(self) -> Program:
        """The program whose answer is emitted."""
        return list(self.programs.values())[-1]

    @property
    def inputs(self) -> list[str | None]:
        """The inputs that come from outside."""
        read = {name for program in self.programs.values() for name in inputs_of(program)}
        own = self.programs.keys() | (self.queries.tables if self.queries else frozenset())
        return sorted((name for name in read if name not in own), key=str)

    @property
    def written_before(self) -> int:
        """How many changes were written before it started again."""
        return self.emitted

    # -- ticks ------------------------------------------------------------------------------------

    def stop(self) -> None:
        """End after the tick at hand, or the next look at silent inputs; any thread may call it."""
        self._until = time.monotonic()

    def ticks(self) -> Generator[list[Change]]:
        """The changes of each tick that made any, to the end of all inputs."""
        self.begin()
        assert self.watch is not None
        with closing(self), self._resting(), closing(self._batches()) as batches:
            for _ in batches:
                if self._by_wall:
                    self.watch.reach(Moment(time.time_ns() // 1000, True))
                changes = self._tick(self.watch)
                if changes:
                    self._counted = False
                    yield changes
                if self._until is not None and time.monotonic() >= self._until:
                    return

    def _tick(self, watch: Watch | Network) -> list[Change]:
        """The changes of one tick, which is counted and measured."""
        began = time.perf_counter()
        changes = watch.tick()
        self._failing.look(watch.failures, self.options.say)
        self.ticked += 1
        self.emitted += len(changes)
        if self.options.metrics is not None:
            self.options.metrics.on_tick(self, time.perf_counter() - began)
        refuse_memory(self, self.options.max_memory or query_limits().memory)
        return changes

    @property
    def arriving(self) -> Mapping[str | None, Arriving]:
        """What takes each input in."""
        return self._arriving

    def close(self) -> None:
        """Read and write nothing more: close sockets and brokers."""
        for stream, _ in self._open.values():
            if isinstance(stream, Generator):
                stream.close()
        if self.journal is not None:
            self.journal.close()

    def _remember(self, *read: tuple[str, int]) -> None:
        """Write down what was read, once the changes that it made are in the sink."""
        assert self.watch is not None
        if self.journal is not None:
            now = (self.watch.now.instant, bool(self.watch.now.zoned))
            refused = None if self.quarantine is None else self.quarantine()
            self.journal.write(Line(list(read), now, self.sink(), refused, self._arrived))
            self._counted = True
            self.options.on_counted()
            if self.snapshots is not None:
                self.snapshots.since += sum(count for _, count in read if count > 0)
                self._snapshot()

    # -- snapshots --------------------------------------------------------------------------------

    def _snapshot(self, stops: bool = False) -> None:
        """Write a snapshot if it is time, and the journal records all input so far."""
        if not (self.snapshots and self.journal and self.watch and self._counted):
            return
        counts = {"refused": self.refused, "ticked": self.ticked, "told": self.emitted}
        written = None if self.form is None else self.form.written
        self.snapshots.take(self.watch, self._arriving, self.journal, counts, written, stops)

    @contextmanager
    def _resting(self) -> Iterator[None]:
        """Whatever ends the query, what it kept is there for the next time."""
        try:
            yield
        finally:
            self._snapshot(stops=True)

    def _go_on(self) -> dict[str, bytes]:
        """Begin with what the newest snapshot has, and pass by what it covers of the inputs."""
        rests: dict[str, bytes] = {}
        if not (self.watch and self.journal and self.snapshots and self.snapshots.found):
            return rests
        counts = self.snapshots.restore(self.watch, self._arriving, self.form)
        self.refused, self.ticked, self.emitted = (counts[n] for n in ("refused", "ticked", "told"))
        for name, covered in self.journal.covered.counts.items():
            skip_covered(self._open[name or None][0], name, covered, rests)
        return rests

    def keep_in(self, kept: Quarantine) -> None:
        """Refused fragments are kept there; a checkpoint counts its bytes, and cuts it back."""
        self.quarantine = kept.reached
        if self.journal is None:
            return
        if self.journal.quarantine is None:
            self.journal.begin_quarantine(kept.reached())
        else:
            kept.go_back(self.journal.quarantine)

    def streams(self) -> frozenset[str | None]:
        """The inputs that are streams of fragments."""
        self.begin()
        return frozenset(n for n, (_, one) in self._open.items() if one.kind == "fragments")

    def begin(self) -> None:
        """Read the beginning of every input to see what it is, and what counts already."""
        if self.watch is not None:
            return
        if self.options.seconds is not None:
            self._until = time.monotonic() + self.options.seconds
        opened = {name: self._opened(name) for name in self.inputs}
        try:
            self._begin(opened)
        except Unreadable as why:
            assert self.snapshots is not None
            assert self.journal is not None
            self.snapshots.refuse(why)
            self.journal.begin_behind(Covered())
            piped = (name for name in self.inputs if is_pipe(self.sources[name]))
            self._begin(opened | {name: self._opened(name) for name in piped})

    def _opened(self, name: str | None) -> tuple[list[bytes | Burst | None], Pieces]:
        """An input, as far as it was read to see what it is, and the rest of it."""
        stream = self._pieces(name)
        return self._head(stream), stream

    def _begin(
        self, opened: Mapping[str | None, tuple[list[bytes | Burst | None], Pieces]]
    ) -> None:
        """Make what takes the inputs in, and bring it to where the journal ends."""
        kinds: dict[str | None, Kind] = {}
        self._open, self._arriving = {}, {}
        for name, (head, stream) in opened.items():
            mapping = mapping_of(self.sources[name])[0]
            lines = form_of_source(self.sources[name])
            arriving = Arriving(name, bytes_of(head), self.options.batch, mapping, lines)
            arriving.of = files_of(self.sources[name], self.options.follow)
            kinds[name] = arriving.kind
            self._open[name] = again(head, stream), arriving
        strict = self.options.policy == "strict"
        if strict:
            for program in self.programs.values():
                refuse_blocked(program, streams=self.options.follow)
        self.watch = started(
            self.programs, self.queries, kinds, self.variables, self.options
        )  # fmt: skip
        timeless = "fragments" not in kinds.values()
        self._by_wall = self.options.clock == "wall" or (timeless and self._reads_clock())
        paths = paths_of(self.program, self.options.immutable)
        for one in (self.watch,) if isinstance(self.watch, Watch) else self.watch.watches.values():
            one.fixed, one.told_time = self._fixed if paths else None, self.options.clock != "wall"
        for _, arriving in self._open.values():
            arriving.begin(self.watch, self.options.on_error, paths, self.options.lateness)
            self._arriving[arriving.name] = arriving
        if self.journal is not None:
            replay(self, self.journal, self._go_on())

    def _reads_clock(self) -> bool:
        """Whether a query reads the clock, and no input has times of its own."""
        return any(asks_clock(body) for one in self.programs.values() for body in bodies(one))

    def _fixed(self, name: str, structure: TagStructure) -> frozenset[int]:
        """The tags of a stream that are never revised; those of updates are only being learnt."""
        if self._arriving[name].form != "fragments":
            return frozenset()
        paths = paths_of(self.program, self.options.immutable)
        return immutable_tags(structure, [one for one in paths if one.stream in (None, name)])

    def _pieces(self, name: str | None) -> Pieces:
        source = self.sources[name]
        live = pieces_and_bursts(
            source, follow=self.options.follow, patience=self._patience, name=name,
            checkpoint=self.journal, together=self.options.batch,
        )  # fmt: skip
        if self.journal is None or not is_pipe(source):
            return live
        return then(self.journal.kept(name or ""), live)

    def _patience(self) -> float | None:
        """How long a source may be waited for: no others are held up, and no clock."""
        limited = self.options.stoppable or self.options.seconds is not None
        if len(self.inputs) == 1 and self.options.clock == "event" and not limited:
            return None
        return 0 if self._busy else WAIT

    def _head(self, stream: Pieces) -> list[bytes | Burst | None]:
        """Pieces up to the first that says what the input is."""
        head: list[bytes | Burst | None] = []
        for piece in stream:
            head += [piece] if piece != b"" else []
            if piece is END or (piece and shows_kind(bytes_of(head))):
                break
            if self._until is not None and time.monotonic() >= self._until:
                break
        return head

    def limits(self, again: bool = False) -> ArrivalLimits:
        """What is refused; what was refused before is counted and not kept a second time."""

        def keep(refused: Refused) -> None:
            self.refused += 1
            if not again:
                self.options.keep(refused)

        return ArrivalLimits(keep, self.options.lateness, self.options.skew)

    def _batches(self) -> Generator[None, None, None]:
        """Read pieces of one input after another; the watch may tick at each step."""
        assert self.watch is not None
        limits = self.limits()
        if not self._open:
            yield  # a query that reads nothing has an answer all the same
        while self._open:
            came = False
            for name, (stream, arriving) in list(self._open.items()):
                piece = next(stream, _OVER)
                came |= piece != b""
                self._arrived = arriving.stamp(None) if piece != b"" else None
                if piece is _OVER:
                    self._snapshot(stops=True)  # no line records an end
                    self._counted = False
                    del self._open[name]
                    yield from arriving.end(self.watch, limits)
                    self.options.on_counted()
                elif piece is END:
                    self._counted = False
                    yield from self._whole(name, -1, arriving.end_file(self.watch, limits))
                elif isinstance(piece, Burst):
                    yield from self._take_burst(name, piece, arriving, limits)
                else:
                    yield from self._take(name, piece or b"", arriving, limits)
            self._busy = came

    def _take(
        self, name: str | None, piece: bytes, arriving: Arriving, limits: ArrivalLimits
    ) -> Iterator[None]:
        assert self.watch is not None
        if not piece:
            yield from self._silent()
            return
        self._counted = False
        if self.journal is not None and is_pipe(self.sources[name]):
            self.journal.keep(name or "", piece)
        yield from self._whole(name, len(piece), arriving.take(piece, self.watch, limits))

    def _silent(self) -> Iterator[None]:
        """A tick without input; what only the passing of time has changed counts as well."""
        emitted = self.emitted
        yield
        if self.emitted != emitted:
            self._remember()

    def _take_burst(
        self, name: str | None, burst: Burst, arriving: Arriving, limits: ArrivalLimits
    ) -> Iterator[None]:
        """Messages that came together: one tick for all of them."""
        self._counted = False
        assert self.watch is not None
        arriving.take_messages(burst, self.watch, limits)
        yield
        self._remember(*((name or "", n) for message in burst for n in (len(message), -1)))

    def _whole(self, name: str | None, count: int, steps: Iterator[None]) -> Iterator[None]:
        """A tick after each step; what was read counts when the last of them is in the sink."""
        for _ in steps:
            yield
        self._remember((name or "", count))

    def report(self) -> list[str]:
        """What was read, emitted and kept, a line each."""
        return reported(self.watch, self._arriving, self.emitted, self.ticked, self.refused)
