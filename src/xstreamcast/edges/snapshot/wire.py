"""A decoder of fragments between two fragments: what it knows, and the bytes that it has kept."""

from __future__ import annotations

import base64
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.wire.decoder import Counts, Decoder
from xstreamcast.edges.wire.reading import WireReading, _Units
from xstreamcast.edges.wire.spots import Spot
from xstreamcast.operators.snapshot.arrow import NotNow, Unwritten
from xstreamcast.operators.snapshot.history import structure_facts, structure_from
from xstreamcast.operators.snapshot.names import read_ids, write_ids
from xstreamcast.tape.limits import default_limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter

_NAME: Final = re.compile(rb"<([^\s/>]+)")  # of a root


def write_decoder(to: TableWriter, at: str, decoder: Any) -> None:
    """Put a decoder into tables; Unwritten if it is none of fragments, or amid something broken."""
    if type(decoder) is not Decoder:
        raise Unwritten(f"{decoder.name} is no stream of fragments")
    if decoder.has_numbers:
        raise Unwritten(f"{decoder.name} has large tag ids")
    if decoder._waiting or decoder._early is not None:
        raise NotNow(f"fragments of {decoder.name} wait for their structure")
    write_ids(to, f"{at}.ids", decoder.ids)
    structure = decoder.structure
    to.facts[f"{at}.decoder"] = {
        "structure": None if structure is None else structure_facts(structure),
        "counts": asdict(decoder.counts),
        "ended": decoder.ended,
        "reading": _reading_facts(decoder.name, decoder._reading),
    }


def read_decoder(source: TableReader, at: str, decoder: Decoder) -> None:
    """Give a new decoder what another one had."""
    facts = source.facts[f"{at}.decoder"]
    read_ids(source, f"{at}.ids", decoder.ids)
    if facts["structure"] is not None:
        decoder._set_structure(structure_from(facts["structure"]))
    decoder.counts, decoder.ended = Counts(**facts["counts"]), facts["ended"]
    if facts["reading"] is not None:
        _read_on(decoder._reading, facts["reading"])


def _reading_facts(name: str, reading: WireReading) -> dict[str, Any] | None:
    """Where on the wire it is; None at its beginning."""
    units, coder = reading._units, reading._transcoder
    if units is None and reading._skipping is None and not coder._begun and not coder._head:
        return None
    if coder._decoder is not None:
        raise Unwritten(f"{name} is not written in UTF-8")
    if coder.expands:
        raise Unwritten(f"{name} has an internal DTD subset")
    if units is None or reading._skipping is not None or units.refused is not None:
        raise NotNow(f"{name} is before its first fragment, or within a broken one")
    at = reading._spots.at(units.passed + reading._shift).spot()
    return {
        "tag": units.tag.decode(),
        "closed": units.ended,
        "at": [at.offset, at.line, at.column],
        "kept": base64.b64encode(units.kept).decode(),
    }


def _read_on(reading: WireReading, facts: Mapping[str, Any]) -> None:
    """Begin below the same root behind the last whole fragment."""
    tag, at = facts["tag"].encode(), Spot(*facts["at"])
    reading._transcoder._begun = True
    reading._spots._end, reading._spots._chunks = at, [(at, b"")]
    reading._units = _Units(1, default_limits(), reading._names, reading._name, tag)
    if facts["closed"]:
        reading._units.feed_quietly(b"</" + _NAME.match(tag)[1] + b">")  # type: ignore[index]
    assert reading._units.keeps == 0
    reading._shift = at.offset - reading._units.passed
    kept = base64.b64decode(facts["kept"])
    if kept:
        reading._spots.take(kept)
        whole = reading._units.feed_quietly(kept)
        assert whole is None  # what was kept is the beginning of a fragment
