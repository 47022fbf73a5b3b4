"""One instance of a query's operators, wherever Spark puts it: rows in, changes out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.immutable import TagPath, immutable_tags
from xstreamcast.edges.table.schema import EOS, HEARTBEAT, REFUSED, STRUCTURE, arrow
from xstreamcast.edges.watching.arriving import ArrivalLimits, Arriving
from xstreamcast.edges.wire.decoder import OnError
from xstreamcast.errors import DataPlace, error
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.model.fragment import Ended, Heartbeat, Refused
from xstreamcast.operators.watching.inputs import Kind, Policy
from xstreamcast.operators.watching.network import Network
from xstreamcast.operators.watching.watch import Watch

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.change import Change
    from xstreamcast.model.items import Items
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.model.update import RankedAnswer
    from xstreamcast.tape.layout import I64

_STREAM: Final = b"<stream:fragments"
BYTES: Final = "bytes"  # the operation of a row that is a piece of a document
_ALL: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """The queries and their options; streams by the name that the query uses."""

    programs: Mapping[str, Program]
    kinds: Mapping[str | None, Kind]
    variables: Mapping[tuple[str, str], Items] = field(default_factory=dict)
    policy: Policy = "optimistic"
    wall: bool = False  # now is the wall clock
    lateness: int | None = None  # microseconds
    skew: int | None = None
    on_error: OnError = "quarantine"
    immutable: tuple[TagPath, ...] = ()


class Reading:
    """What reads rows for operators: fragments, and what is said between them."""

    def __init__(self, request: WatchRequest, watch: Any) -> None:
        self.request, self.watch = request, watch
        self.refused: list[Refused] = []
        self.fragments = self.refusals = 0  # that this has seen
        self._arriving = {
            name: _arriving(name, watch, request)
            for name, kind in request.kinds.items()
            if name is not None and kind == "fragments"
        }

    def take_rows(self, rows: Any) -> None:
        """The rows of a batch, of all streams."""
        for name in self.request.kinds:
            self._take_stream(name, rows)

    def _take_stream(self, name: str | None, rows: Any) -> None:
        pc = arrow().compute
        at = np.flatnonzero(pc.equal(rows["stream"], name or "").to_numpy())
        ordinals = rows["ordinal"].to_numpy()[at]
        if (ordinals[1:] < ordinals[:-1]).any():
            at = at[np.argsort(ordinals, kind="stable")]
            mine = rows.take(at)
        else:
            mine = rows if len(at) == rows.num_rows else rows.take(at)
        for first, last, operation in _runs(mine["operation"]):
            self._take_run(name, mine.slice(first, last - first), operation, at[first:last])

    def _take_run(self, name: str | None, rows: Any, operation: str, at: I64) -> None:
        match operation:
            case "":
                self.fragments += rows.num_rows
                self._take_fragments(str(name), rows, at)
            case "structure":
                for payload in rows["payload"].to_pylist():
                    self._feed(str(name), payload)
            case "heartbeat":
                beats = [Heartbeat(valid) for valid in rows["valid"].to_pylist()]
                self.watch.on_arrivals(str(name), beats)
            case "eos" if self.request.kinds[name] == "fragments":
                self.watch.on_arrivals(str(name), [Ended()])
            case "eos":
                self.watch.on_end(name)
            case "bytes":
                for piece in rows["payload"].to_pylist():
                    self.watch.on_bytes(name, piece)
            case _:
                self._refuse(str(name), rows)

    def _take_fragments(self, name: str, rows: Any, at: I64) -> None:
        self._arriving[name].take_rows(rows, self.watch, self._limits())

    def _feed(self, name: str, lines: bytes) -> None:
        """Whole fragments; nothing is carried over to the next ones."""
        arriving, limits = self._arriving[name], self._limits()
        for _ in arriving.take(lines, self.watch, limits):
            pass
        for _ in arriving.end_file(self.watch, limits):
            pass

    def _limits(self) -> ArrivalLimits:
        return ArrivalLimits(self._keep_refused, self.request.lateness, self.request.skew)

    def _refuse(self, name: str, rows: Any) -> None:
        for row in rows.to_pylist():
            refused = Refused(
                name, row["id"], row["position"] or 0, row["code"], row["reason"],
                row["payload"] or b"",
            )  # fmt: skip
            if self.request.on_error == "stop":
                at = DataPlace(name, refused.fragment, refused.offset)
                raise error(refused.code, refused.reason, at=at)
            self._keep_refused(refused)

    def _keep_refused(self, refused: Refused) -> None:
        self.refusals += 1
        self.refused.append(refused)

    def counts(self) -> dict[str, int]:
        """What this has seen, by the names that Spark's progress has for it."""
        late = sum(one.late for one in self._arriving.values())
        return {"fragments": self.fragments, "late": late, "refused": self.refusals}

    def counted(self) -> dict[str, int]:
        """What of the inputs did not count, if any."""
        reported: dict[str, int] = {}
        for name, one in self._arriving.items():
            counts = {
                "late": one.late,
                "too far ahead": one.ahead,
                "updates of immutable elements ignored": one.ignored,
            }
            reported |= {f"{name}: {what}": count for what, count in counts.items() if count}
        return reported


class Host(Reading):
    """The operators of a query, and what reads rows for them.

    changes of all ticks  →  those of the local runner, if it ticks between the same arrivals
    """

    def __init__(self, request: WatchRequest, shallow: bool = False) -> None:
        super().__init__(request, _watch(request, shallow))
        self.ranked: RankedAnswer | None = None  # where updates are emitted

    def take(self, rows: Any, now: int | None) -> list[Change]:
        """The rows of a batch, and the wall clock if it counts → the changes of one tick."""
        self.take_rows(rows)
        if self.request.wall and now is not None:
            self.watch.reach(Moment(now, True))
        changes: list[Change] = self.watch.tick()
        return changes

    def said(self) -> dict[str, int]:
        """What there is to say at the end: bytes of state, and what of the inputs did not count."""
        reported: dict[str, int] = {"bytes of state": self.watch.state_bytes}
        again = {name: self.watch.repeated(name) for name in self._arriving}
        reported |= {f"{name}: repeated": count for name, count in again.items() if count}
        return reported | self.counted()

    @property
    def ended(self) -> bool:
        """Whether all inputs have ended."""
        watches = [self.watch] if isinstance(self.watch, Watch) else self.watch.watches.values()
        return all(one.ended >= set(one.kinds) for one in watches)


def _watch(request: WatchRequest, shallow: bool) -> Watch | Network:
    made: Watch | Network
    if len(request.programs) > 1:
        made = Network(
            request.programs,
            request.kinds,
            variables=request.variables,
            policy=request.policy,
            lateness=request.lateness,
        )
        watches = list(made.watches.values())
    else:
        (program,) = request.programs.values()
        made = Watch(
            program,
            request.kinds,
            variables=request.variables,
            policy=request.policy,
            shallow=shallow,
            lateness=request.lateness,
        )
        watches = [made]
    for one in watches:
        one.fixed = partial(_fixed, request.immutable) if request.immutable else None
        one.told_time = not request.wall
    return made


def _fixed(paths: tuple[TagPath, ...], name: str, structure: TagStructure) -> frozenset[int]:
    return immutable_tags(structure, [one for one in paths if one.stream in (None, name)])


def _arriving(name: str, watch: Any, request: WatchRequest) -> Arriving:
    made = Arriving(name, _STREAM + b">", _ALL)
    made.begin(watch, request.on_error, request.immutable, request.lateness)
    return made


_SAID: Final = (STRUCTURE, HEARTBEAT, EOS, REFUSED, BYTES)


def _runs(operations: Any) -> Iterator[tuple[int, int, str]]:
    """(first, last, word) of what is said between fragments, "" for a run of fragments."""
    pa = arrow()
    said = pa.compute.is_in(operations, value_set=pa.array(_SAID, pa.string())).to_numpy()
    first = 0
    for at in np.flatnonzero(said).tolist():
        if at > first:
            yield first, at, ""
        yield at, at + 1, operations[at].as_py()
        first = at + 1
    if first < len(operations):
        yield first, len(operations), ""
