"""What the places of a query that is partitioned say to each other, as Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from xstreamcast.edges.partitions.facts import (
    error_facts,
    error_from,
    part_facts,
    part_from,
    refused_facts,
    refused_from,
)
from xstreamcast.edges.partitions.packing import read_schema, rows_in
from xstreamcast.edges.snapshot.container import packed, unpacked
from xstreamcast.edges.snapshot.exchange import read_exchanged, write_exchanged
from xstreamcast.edges.table.schema import arrow
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.model.change import Change
from xstreamcast.operators.snapshot.names import read_names, write_names
from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
from xstreamcast.tape.names import Names

if TYPE_CHECKING:
    from xstreamcast.errors import Error
    from xstreamcast.model.fragment import Refused
    from xstreamcast.operators.relational.failing import Order
    from xstreamcast.operators.relational.stages.exchanged import Exchanged, To

# ("described", stream, structure, now), ("ended", stream), ("fragments", stream, rows)
Part: TypeAlias = tuple[Any, ...]
_ROWS: Final = "fragments"


class ArrivedPacks:
    """What arrived in a batch: packs, each of a stream; as a table, and as bytes to keep."""

    def __init__(self, packs: Sequence[tuple[str, bytes]]) -> None:
        self.packs = list(packs)

    @cached_property
    def table(self) -> Any:
        tables = [rows_in(*pack) for pack in self.packs]
        return arrow().concat_tables([read_schema().empty_table(), *tables])

    @cached_property
    def blob(self) -> bytes:
        return framed([part for name, raw in self.packs for part in (name.encode(), raw)])

    @staticmethod
    def of(blob: bytes) -> ArrivedPacks:
        parts = unframed(blob)
        return ArrivedPacks([(parts[at].decode(), parts[at + 1]) for at in range(0, len(parts), 2)])


def framed(parts: Sequence[bytes]) -> bytes:
    """Several pieces of bytes as one: an Arrow stream of one column."""
    pa = arrow()
    table = pa.table({"part": pa.array(parts, pa.large_binary())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def unframed(raw: bytes) -> list[bytes]:
    """The pieces."""
    return list(arrow().ipc.open_stream(raw).read_all()["part"].to_pylist())


@dataclass(frozen=True, slots=True)
class Sent:
    """To a partition of units: what arrived for it, and where the whole stream is by now."""

    turn: int
    now: Moment
    newest: Mapping[str, tuple[int, bool]]  # of the streams that are partitioned
    parts: tuple[Part, ...] = ()
    refused: tuple[Refused, ...] = ()
    beside: Mapping[str, int] = field(default_factory=dict)  # what else is reported at the end


@dataclass(frozen=True, slots=True)
class Whole:
    """To the first partition: all that arrived and that it has not got; `anew`: it was spread."""

    turn: int
    tables: tuple[tuple[bytes, int | None], ...]
    anew: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """An error that no later input can correct: to the place that emits the answer."""

    turn: int
    order: Order  # which comes first in one place
    why: Error


@dataclass(frozen=True, slots=True)
class Handed:
    """From a partition of a stage to one of a later stage: what it made of a tick.

    `found` is None where nothing is sent on; `broken`: an error holds the answer back.
    """

    turn: int
    sender: To
    now: Moment
    found: Exchanged | None = None
    broken: bool = False
    parts: tuple[Part, ...] = ()  # what was said of structures and ends
    refused: tuple[Refused, ...] = ()
    said: tuple[Mapping[str, int], ...] = ()  # at the end, to be added up
    changes: tuple[Change, ...] | None = None  # of a query that is in one place
    anew: bool = False
    ended: bool = False


Given: TypeAlias = Sent | Whole
Message: TypeAlias = Sent | Whole | Failed | Handed


def message_bytes(one: Message, names: Names | None = None) -> bytes:
    """A message; `names` are those of the nodes that it holds."""
    to = TableWriter()
    match one:
        case Sent(turn, now, newest, parts, refused, beside):
            to.facts |= {"turn": turn, "now": list(now), "newest": dict(newest)}
            to.facts["parts"] = _written_parts(to, parts)
            to.facts["refused"] = [refused_facts(r) for r in refused]
            to.facts["beside"] = dict(beside)
        case Whole(turn, tables, anew):
            to.facts |= {"turn": turn, "anew": anew, "clocks": [now for _, now in tables]}
            to.values("arrived", blob=[blob for blob, _ in tables])
        case Failed(turn, order, why):
            to.facts |= {"turn": turn, "why": error_facts(why)}
            to.values("order", order=[order])
        case Handed():
            _write_handed(to, one, names)
    return packed({"message": type(one).__name__, "facts": to.facts}, to.finish())


def _written_parts(to: TableWriter, parts: Sequence[Part]) -> list[Any]:
    for number, part in enumerate(parts):
        if part[0] == _ROWS:
            to.table(f"rows{number}", part[2].drop_columns(["stream"]))
    return [[_ROWS, part[1]] if part[0] == _ROWS else part_facts(part) for part in parts]


def _write_handed(to: TableWriter, one: Handed, names: Names | None) -> None:
    to.facts |= {
        "turn": one.turn,
        "sender": list(one.sender),
        "now": list(one.now),
        "broken": one.broken,
        "parts": list(map(part_facts, one.parts)),
        "refused": list(map(refused_facts, one.refused)),
        "said": list(map(dict, one.said)),
        "anew": one.anew,
        "ended": one.ended,
    }
    if one.changes is not None:
        to.values("changes", change=list(map(astuple, one.changes)))
    if one.found is not None:
        write_exchanged(to, "", one.found)
        if one.found.contents or to.has_trees:
            assert names is not None
            write_names(to, names)


def message_of(raw: bytes, names: Names | None = None) -> Message:
    """The message; its nodes get the names of its reader."""
    header, tables = unpacked(raw)
    facts = header["facts"]
    match header["message"]:
        case "Failed":
            ((order,),) = TableReader(tables, facts, Names()).values("order", "order")
            return Failed(facts["turn"], order, error_from(facts["why"]))
        case "Whole":
            blobs = tables["arrived"]["blob"].to_pylist()
            both = tuple(zip(blobs, facts["clocks"], strict=True))
            return Whole(facts["turn"], both, facts["anew"])
        case "Sent":
            parts = [
                (*part, tables[f"rows{number}"]) if part[0] == _ROWS else part_from(part)
                for number, part in enumerate(facts["parts"])
            ]
            newest = {name: (at, zoned) for name, (at, zoned) in facts["newest"].items()}
            refused = tuple(map(refused_from, facts["refused"]))
            return Sent(
                facts["turn"], Moment(*facts["now"]), newest, tuple(parts), refused, facts["beside"]
            )
        case _:
            return _read_handed(facts, tables, names or Names())


def _read_handed(facts: Mapping[str, Any], tables: Mapping[str, Any], names: Names) -> Handed:
    theirs = Names()
    if "names" in tables:
        read_names(tables, theirs)
    source = TableReader(tables, facts, theirs, names)
    changes = None
    if "changes" in source:
        changes = tuple(Change(*one) for one in source.values("changes", "change")[0])
    stage, partition = facts["sender"]
    return Handed(
        facts["turn"],
        (stage, partition),
        Moment(*facts["now"]),
        read_exchanged(source, "", names) if "exchanged" in facts else None,
        facts["broken"],
        tuple(map(part_from, facts["parts"])),
        tuple(map(refused_from, facts["refused"])),
        tuple(facts["said"]),
        changes,
        facts["anew"],
        facts["ended"],
    )
