"""Which ids a decoder of a mapped feed remembers, whatever queries keep of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xstreamcast.edges.mapping.decoder import MappingDecoder
    from xstreamcast.tape.layout import Bools


def mark_units(decoder: MappingDecoder, codes: Bools) -> None:
    """Mark the ids of deliveries, aliases, statements, and contents that may be sent again."""
    codes[list(_known(decoder))] = True


def _known(decoder: MappingDecoder) -> Iterator[int]:
    for delivery in decoder._deliveries.values():
        for last in delivery.last.values():
            yield from last.steps
    for content in decoder._unchanged.values():
        yield from content.last
    for aliases in decoder._aliases.values():
        yield from aliases.codes()
    for statements in decoder._statements.values():
        for one in statements.last.values():
            yield from (said.code for said in one.said)
            yield from (said.parent for said in one.said)
