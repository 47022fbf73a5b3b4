"""A running query and what reads its inputs, to bytes and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.sinks.forms import WrittenAnswer
from xstreamcast.edges.snapshot.container import Snapshot, packed
from xstreamcast.edges.snapshot.mapped import read_mapped, write_mapped
from xstreamcast.edges.snapshot.wire import read_decoder, write_decoder
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.operators.snapshot.arrow import Unreadable
from xstreamcast.operators.snapshot.names import read_names, write_names
from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
from xstreamcast.operators.snapshot.watch import read_watch, write_watch

if TYPE_CHECKING:
    from xstreamcast.operators.watch import Watch


_WRITTEN: Final = "written"  # the answer that a form of output must know


def taken(
    watch: Watch, decoders: Mapping[str, Any], header: Mapping[str, Any],
    written: WrittenAnswer | None = None,
) -> bytes:  # fmt: skip
    """A snapshot between two ticks; Unwritten if there is something that no table holds."""
    to = TableWriter()
    if written is not None:
        to.values(_WRITTEN, key=written.keys, item=written.items)
        to.facts[_WRITTEN] = {"begun": written.begun, "instant": written.instant}
    write_watch(to, watch)
    names = list(decoders)
    for number, name in enumerate(names):
        _write_decoder(to, f"decoder{number}", decoders[name])
    write_names(to, watch.names)
    tables = to.finish()
    return packed({**header, "decoders": names, "facts": to.facts}, tables)


def written_of(snapshot: Snapshot) -> WrittenAnswer:
    """The answer that was written before; Unreadable if the snapshot has none."""
    header, tables = snapshot
    if _WRITTEN not in tables:
        raise Unreadable("it was taken of another form of output")
    keys, items = (tables[_WRITTEN][one].to_pylist() for one in ("key", "item"))
    return WrittenAnswer(keys, items, **header["facts"][_WRITTEN])


def restored(snapshot: Snapshot, watch: Watch, decoders: Mapping[str, Any]) -> None:
    """Let a new query and new decoders go on from a snapshot; Unreadable if it is not theirs."""
    header, tables = snapshot
    if list(decoders) != header["decoders"]:
        raise Unreadable("it is of other inputs")
    read_names(tables, watch.names)
    source = TableReader(tables, header["facts"], watch.names)
    for number, decoder in enumerate(decoders.values()):
        _read_decoder(source, f"decoder{number}", decoder)
    read_watch(source, watch, {name: one.ids for name, one in decoders.items()})


def _write_decoder(to: TableWriter, at: str, decoder: Any) -> None:
    if isinstance(decoder, MappingDecoder):
        write_mapped(to, at, decoder)
    else:
        write_decoder(to, at, decoder)


def _read_decoder(source: TableReader, at: str, decoder: Any) -> None:
    mapped = f"{at}.mapped" in source.facts
    if type(decoder) is not (MappingDecoder if mapped else Decoder):
        raise Unreadable(f"{decoder.name} is another kind of input now")
    (read_mapped if mapped else read_decoder)(source, at, decoder)
