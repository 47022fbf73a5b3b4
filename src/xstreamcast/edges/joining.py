"""Fragments to the document that they make, through the history of their stream."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import assert_never

from xstreamcast.edges.decoding import StreamDecoder
from xstreamcast.edges.inputs import arrivals, kind_of_source, stream_name
from xstreamcast.edges.structures import read_structure
from xstreamcast.edges.wire.decoder import Decoder, OnError
from xstreamcast.errors import DataPlace, error
from xstreamcast.history.history import History
from xstreamcast.history.view import reconstruct
from xstreamcast.model.fragment import (
    Arrival,
    Ended,
    FragmentBatch,
    Heartbeat,
    NewStructure,
    Refused,
)
from xstreamcast.model.frozen import dataclass
from xstreamcast.tape.store import Store


@dataclass(frozen=True, slots=True)
class Joined:
    """A document, and the fragments that could not be placed."""

    document: bytes
    refused: list[Refused]


def join(
    source: str | os.PathLike[str],
    structure: str | os.PathLike[str] | None = None,
    on_error: OnError = "quarantine",
) -> Joined:
    """The document of a source of fragments, with its latest content."""
    known = None if structure is None else read_structure(structure)
    store = Store()
    decoder = Decoder(
        stream_name(source), known, names=store.names, on_error=on_error, renumbers=True
    )
    tags = decoder.structure
    history = None if tags is None else History(decoder.name, tags, store=store, ids=decoder.ids)
    refused: list[Refused] = []
    for found in arrivals(source, decoder):
        history = taken_in(history, found, decoder, store, refused)
    if history is None:
        hint = "give one with --structure TS"
        if kind_of_source(source) == "document":
            hint = "the input contains no fragments; only a stream of fragments can be joined"
        raise error("XSCF0010", at=DataPlace(decoder.name), hint=hint)
    return Joined(reconstruct(history).serialize(), refused)


def taken_in(
    history: History | None,
    found: Iterable[Arrival],
    decoder: StreamDecoder,
    store: Store,
    refused: list[Refused],
) -> History | None:
    """The history after what arrived; it begins with the first tag structure."""
    for arrival in found:
        match arrival:
            case NewStructure(structure):
                if history is None:
                    history = History(decoder.name, structure, store=store, ids=decoder.ids)
                history.describe(structure)
            case FragmentBatch():
                assert history is not None, "the decoder keeps fragments until there is a structure"
                history.add(arrival)
            case Heartbeat(instant):
                if history is not None:
                    history.reach(instant)
            case Refused():
                refused.append(arrival)
            case Ended():
                pass
            case _:
                assert_never(arrival)
    return history
