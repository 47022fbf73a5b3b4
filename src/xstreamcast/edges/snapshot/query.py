"""A running query and what reads its inputs, to bytes and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.sinks.forms import WrittenAnswer
from xstreamcast.edges.snapshot.container import Snapshot, packed
from xstreamcast.edges.snapshot.mapped import read_mapped, write_mapped
from xstreamcast.edges.snapshot.updates import read_updates, write_updates
from xstreamcast.edges.snapshot.wire import read_decoder, write_decoder
from xstreamcast.edges.updates.decoder import UpdateDecoder
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.operators.snapshot.arrow import Unreadable
from xstreamcast.operators.snapshot.names import read_names, write_names
from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
from xstreamcast.operators.snapshot.watch import read_watch, read_watches, write_watch
from xstreamcast.operators.watching.network import Network

if TYPE_CHECKING:
    from xstreamcast.operators.watching.watch import Watch


_WRITTEN: Final = "written"  # the answer that a form of output must know
_QUERIES: Final = "query:"  # tables of one of several queries


def taken(
    watch: Watch | Network, decoders: Mapping[str, Any], header: Mapping[str, Any],
    written: WrittenAnswer | None = None,
) -> bytes:  # fmt: skip
    """A snapshot between two ticks; Unwritten if there is something that no table holds."""
    to = TableWriter()
    if written is not None:
        to.values(_WRITTEN, key=written.keys, item=written.items)
        of = {"queries": list(written.queries)} if written.queries else {}
        to.facts[_WRITTEN] = {"begun": written.begun, "instant": written.instant, **of}
    parts: list[tuple[str, TableWriter]] = []
    if isinstance(watch, Network):
        for name, one in watch.watches.items():
            parts.append((name, TableWriter()))
            write_watch(parts[-1][1], one)
    else:
        write_watch(to, watch)
    names = list(decoders)
    for number, name in enumerate(names):
        _write_decoder(to, f"decoder{number}", decoders[name])
    write_names(to, watch.names)
    tables = to.finish()
    for number, (_, part) in enumerate(parts):
        tables |= {f"{_query(number)}{name}": table for name, table in part.finish().items()}
    queries = [[name, part.facts] for name, part in parts]
    fields = {"decoders": names, "facts": to.facts, **({"queries": queries} if parts else {})}
    return packed({**header, **fields}, tables)


def _query(number: int) -> str:
    """What the tables of one of several queries begin with."""
    return f"{_QUERIES}{number}:"


def written_of(snapshot: Snapshot) -> WrittenAnswer:
    """The answer that was written before; Unreadable if the snapshot has none."""
    header, tables = snapshot
    if _WRITTEN not in tables:
        raise Unreadable("it was taken of another form of output")
    keys, items = (tables[_WRITTEN][one].to_pylist() for one in ("key", "item"))
    return WrittenAnswer(keys, items, **header["facts"][_WRITTEN])


def restored(snapshot: Snapshot, watch: Watch | Network, decoders: Mapping[str, Any]) -> None:
    """Restore a new query and new decoders from a snapshot; Unreadable if it is not theirs."""
    header, tables = snapshot
    if list(decoders) != header["decoders"]:
        raise Unreadable("it is of other inputs")
    read_names(tables, watch.names)
    queries = header.get("queries", [])
    parts = [_tables_of(tables, number) for number in range(len(queries))]
    own = {name: one for name, one in tables.items() if not name.startswith(_QUERIES)}
    source = TableReader(own, header["facts"], watch.names)
    for number, decoder in enumerate(decoders.values()):
        _read_decoder(source, f"decoder{number}", decoder)
    ids = {name: one.ids for name, one in decoders.items()}
    if [name for name, _ in queries] != (list(watch.watches) if isinstance(watch, Network) else []):
        raise Unreadable("it is of other declared streams")
    if not isinstance(watch, Network):
        read_watch(source, watch, ids)
        return
    read_watches(
        [
            (TableReader(part, facts, watch.names), watch.watches[name])
            for part, (name, facts) in zip(parts, queries, strict=True)
        ],
        ids,
    )


def _tables_of(tables: Mapping[str, Any], number: int) -> dict[str, Any]:
    begin = _query(number)
    return {
        name.removeprefix(begin): table for name, table in tables.items() if name.startswith(begin)
    }


def _write_decoder(to: TableWriter, at: str, decoder: Any) -> None:
    if isinstance(decoder, MappingDecoder):
        write_mapped(to, at, decoder)
    elif isinstance(decoder, UpdateDecoder):
        write_updates(to, at, decoder)
    else:
        write_decoder(to, at, decoder)


def _read_decoder(source: TableReader, at: str, decoder: Any) -> None:
    if f"{at}.mapped" in source.facts and isinstance(decoder, MappingDecoder):
        read_mapped(source, at, decoder)
    elif f"{at}.updates" in source.facts and isinstance(decoder, UpdateDecoder):
        read_updates(source, at, decoder)
    elif f"{at}.decoder" in source.facts and type(decoder) is Decoder:
        read_decoder(source, at, decoder)
    else:
        raise Unreadable(f"{decoder.name} is another kind of input now")
