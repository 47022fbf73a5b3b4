"""A stream's bytes to what arrives on it, in whichever of its forms it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.marking import mark_units
from xstreamcast.edges.updates.changes import ChangeDecoder
from xstreamcast.edges.updates.decoder import UpdateDecoder
from xstreamcast.edges.wire.decoder import Decoder, OnError

if TYPE_CHECKING:
    from xstreamcast.edges.immutable import TagPath
    from xstreamcast.edges.inputs import Kind
    from xstreamcast.edges.mapping.form import Mapping
    from xstreamcast.tape.layout import Bools
    from xstreamcast.tape.names import Names

StreamDecoder = Decoder | UpdateDecoder | ChangeDecoder | MappingDecoder


def decoder_of(
    kind: Kind,
    name: str,
    names: Names,
    on_error: OnError,
    immutable: tuple[TagPath, ...] = (),
    mapping: Mapping | None = None,
    renumbers: bool = False,
    lateness: int | None = None,
) -> StreamDecoder:
    """What reads a stream of this kind, or a feed by its mapping.

    Of fragments, `Kept` leaves out what is immutable. `renumbers`: tag ids are not sent again.
    `lateness`: nothing that is older than now by more counts.
    """
    if mapping is not None:
        decoder = MappingDecoder(name, mapping, names=names, on_error=on_error)
        decoder.lateness = lateness
        return decoder
    paths = tuple(path for path in immutable if path.stream in (None, name))
    match kind:
        case "updates":
            return UpdateDecoder(name, names=names, on_error=on_error, immutable=paths)
        case "changes":
            return ChangeDecoder(name, names=names, on_error=on_error, immutable=paths)
        case "fragments" | "document":
            return Decoder(name, names=names, on_error=on_error, renumbers=renumbers)
        case _:
            assert_never(kind)


def mark_codes(decoder: StreamDecoder, codes: Bools) -> bool:
    """Mark the ids that a decoder remembers → False if it may be any."""
    if isinstance(decoder, MappingDecoder):
        mark_units(decoder, codes)
        return True
    # fragments that wait for their structure are decoded; regions of update streams nest
    return type(decoder) is Decoder and not decoder.has_waiting
