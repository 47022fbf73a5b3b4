"""One instance of a query's operators, wherever Spark puts it: rows in, changes out.

It may be pickled between two ticks and goes on elsewhere as if nothing had happened.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.immutable import Path, immutable_tags
from xstreamcast.edges.table.schema import EOS, HEARTBEAT, REFUSED, STRUCTURE, arrow
from xstreamcast.edges.table.wire import wire
from xstreamcast.edges.watching.arriving import Arriving, Limits
from xstreamcast.edges.wire.decoder import Decoder, OnError
from xstreamcast.errors import error
from xstreamcast.evaluate.moments import Moment
from xstreamcast.model.fragment import Ended, Heartbeat, Refused
from xstreamcast.operators.network import Network
from xstreamcast.operators.watch import Kind, Policy, Watch

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.change import Change
    from xstreamcast.model.items import Items
    from xstreamcast.model.structure import TagStructure

_STREAM: Final = b"<stream:fragments"
BYTES: Final = "bytes"  # the operation of a row that is a piece of a document
_ALL: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked, and how; streams by the name that the query has for them."""

    programs: Mapping[str, Program]
    kinds: Mapping[str | None, Kind]
    variables: Mapping[tuple[str, str], Items] = field(default_factory=dict)
    policy: Policy = "optimistic"
    wall: bool = False  # now is the wall clock
    lateness: int | None = None  # microseconds
    skew: int | None = None
    on_error: OnError = "quarantine"
    immutable: tuple[Path, ...] = ()


class Host:
    """The operators of a query, and what reads rows for them.

    changes of all ticks  →  those of the local runner, if it ticks between the same arrivals
    """

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.watch = _watch(asked)
        self.refused: list[Refused] = []
        self._arriving = {
            name: _arriving(name, self.watch, asked)
            for name, kind in asked.kinds.items()
            if name is not None and kind == "fragments"
        }

    def take(self, rows: Any, now: int | None) -> list[Change]:
        """The rows of a batch, and the wall clock if it counts → the changes of one tick."""
        for name in self.asked.kinds:
            self._take_stream(name, rows)
        if self.asked.wall and now is not None:
            self.watch.reach(Moment(now, True))
        return self.watch.tick()

    def _take_stream(self, name: str | None, rows: Any) -> None:
        pc = arrow().compute
        mine = rows.filter(pc.equal(rows["stream"], name or "")).sort_by("ordinal")
        for first, last, operation in _runs(mine["operation"].to_pylist()):
            self._take_run(name, mine.slice(first, last - first), operation)

    def _take_run(self, name: str | None, rows: Any, operation: str) -> None:
        match operation:
            case "":
                for lines in wire(rows):
                    self._feed(str(name), lines)
            case "structure":
                for payload in rows["payload"].to_pylist():
                    self._feed(str(name), payload)
            case "heartbeat":
                beats = [Heartbeat(valid) for valid in rows["valid"].to_pylist()]
                self.watch.on_arrivals(str(name), beats)
            case "eos" if self.asked.kinds[name] == "fragments":
                self.watch.on_arrivals(str(name), [Ended()])
            case "eos":
                self.watch.on_end(name)
            case "bytes":
                for piece in rows["payload"].to_pylist():
                    self.watch.on_bytes(name, piece)
            case _:
                self._refuse(str(name), rows)

    def _feed(self, name: str, lines: bytes) -> None:
        """Whole fragments; nothing is carried over to the next ones."""
        arriving, limits = self._arriving[name], self._limits()
        for _ in arriving.take(lines, self.watch, limits):
            pass
        for _ in arriving.end_file(self.watch, limits):
            pass

    def _limits(self) -> Limits:
        return Limits(self.refused.append, self.asked.lateness, self.asked.skew)

    def _refuse(self, name: str, rows: Any) -> None:
        for row in rows.to_pylist():
            refused = Refused(
                name, row["id"], row["position"] or 0, row["code"], row["reason"],
                row["payload"] or b"",
            )  # fmt: skip
            if self.asked.on_error == "stop":
                raise error(refused.code, refused.reason)
            self.refused.append(refused)

    def said(self) -> Mapping[str, int]:
        """What there is to say at the end: bytes of state, and what of the inputs did not count."""
        told = {"bytes of state": self.watch.state_bytes}
        for name, one in self._arriving.items():
            counts = {
                "repeated": self.watch.repeated(name),
                "late": one.late,
                "too far ahead": one.ahead,
                "updates of what is immutable left out": one.ignored,
            }
            told |= {f"{name}: {what}": count for what, count in counts.items() if count}
        return told

    @property
    def ended(self) -> bool:
        """Whether all inputs have ended."""
        watches = [self.watch] if isinstance(self.watch, Watch) else self.watch.watches.values()
        return all(one.ended >= set(one.kinds) for one in watches)

    # -- elsewhere --------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """Without readers, which hold addresses of memory; between two batches they hold nothing"""
        told = dict(self.__dict__)
        told["_arriving"] = {name: _bare(one) for name, one in self._arriving.items()}
        return told

    def __setstate__(self, told: dict[str, Any]) -> None:
        self.__dict__.update(told)
        for name, one in self._arriving.items():
            ids, structure, counts, links = one.decoder  # type: ignore[misc]
            one.decoder = Decoder(
                name, structure, ids=ids, names=self.watch.names, on_error=self.asked.on_error
            )
            one.decoder.counts, one.decoder._links = counts, links


def _bare(one: Arriving) -> Arriving:
    bare, decoder = copy.copy(one), one.decoder
    assert isinstance(decoder, Decoder)
    bare.decoder = decoder.ids, decoder.structure, decoder.counts, decoder._links  # type: ignore[assignment]
    return bare


def _watch(asked: Asked) -> Watch | Network:
    made: Watch | Network
    if len(asked.programs) > 1:
        made = Network(asked.programs, asked.kinds, variables=asked.variables, policy=asked.policy)
        watches = list(made.watches.values())
    else:
        (program,) = asked.programs.values()
        made = Watch(program, asked.kinds, variables=asked.variables, policy=asked.policy)
        watches = [made]
    for one in watches:
        one.fixed = partial(_fixed, asked.immutable) if asked.immutable else None
    return made


def _fixed(paths: tuple[Path, ...], name: str, structure: TagStructure) -> frozenset[int]:
    return immutable_tags(structure, [one for one in paths if one.stream in (None, name)])


def _arriving(name: str, watch: Watch | Network, asked: Asked) -> Arriving:
    made = Arriving(name, _STREAM + b">", _ALL)
    made.begin(watch, asked.on_error, asked.immutable)
    return made


_SAID: Final[Mapping[str, str]] = {one: one for one in (STRUCTURE, HEARTBEAT, EOS, REFUSED, BYTES)}


def _runs(operations: list[str]) -> Iterator[tuple[int, int, str]]:
    """(first, last, word) of what is said between fragments, "" for a run of fragments."""
    first = 0
    for at in range(1, len(operations) + 1):
        word = _SAID.get(operations[first], "")
        if at == len(operations) or _SAID.get(operations[at], "") != word:
            yield first, at, word
            first = at
