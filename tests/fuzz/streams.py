"""Mutated streams of any kind: read whole and in chunks, once and left running, all the same."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.fuzz.target import Finding, cut, plain_errors
from xstreamcast import query
from xstreamcast.edges.decoding import decoder_of
from xstreamcast.edges.wire.encoder import batch_lines
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated
from xstreamcast.model.fragment import Ended, FragmentBatch, Heartbeat, NewStructure, Refused
from xstreamcast.tape.names import Names

_ARRIVAL = re.compile(rb"20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{4,6}Z")  # the clock on the wall

if TYPE_CHECKING:
    from xstreamcast.edges.inputs import Kind
    from xstreamcast.edges.mapping.form import Mapping


def decoded(kind: Kind, chunks: list[bytes], mapping: Mapping | None = None) -> list[object]:
    """What arrives, in a form that does not depend on batches; an error ends it."""
    decoder = decoder_of(kind, "s", Names(), "quarantine", mapping=mapping)
    out: list[object] = []
    try:
        for chunk in chunks:
            out += _told(decoder.feed(chunk), decoder.ids)
        out += _told(decoder.close(), decoder.ids)
    except Error as refused:
        out.append(("error", refused.code))
    return out


def _told(arrivals: Sequence[object], ids: object) -> list[object]:
    out: list[object] = []
    for one in arrivals:
        match one:
            case FragmentBatch():
                lines = batch_lines(one, ids)  # type: ignore[arg-type]
                out += [_ARRIVAL.sub(b"now", line) for line in lines]
            case Refused():
                out.append(("refused", one.code, one.fragment))
            case Heartbeat():
                out.append(("heartbeat", one.instant))
            case NewStructure() | Ended():
                out.append(type(one).__name__)
    return out


def check_decoder(
    kind: Kind, data: bytes, chance: random.Random, mapping: Mapping | None = None
) -> None:
    """However it is cut, the same fragments arrive, and the same are refused."""
    pieces = cut(data, chance)
    with plain_errors(data):
        whole = decoded(kind, [data], mapping)
        chunked = decoded(kind, pieces, mapping)
        if kind in ("fragments", "document"):
            # texts between the fragments of a chunk are reported behind its refused fragments
            refused = [sorted(map(str, _of(one, True))) for one in (whole, chunked)]
            same = _of(whole, False) == _of(chunked, False) and refused[0] == refused[1]
        else:  # what comes together is put together, and said to be no document if it is none
            ends = whole[-1:], chunked[-1:]
            stopped = ends[0] == ends[1] and "error" in str(ends[0])
            same = stopped or _single(whole) == _single(chunked)
        if not same:
            raise Finding(f"not the same in chunks of {len(pieces[0])}", data)


def _single(arrivals: list[object]) -> list[str]:
    return sorted(str(one) for one in _of(arrivals, True) if "XSCE0007" not in str(one))


def _of(arrivals: list[object], refused: bool) -> list[object]:
    return [
        one for one in arrivals if (isinstance(one, tuple) and one[0] != "heartbeat") == refused
    ]


def check_answers(text: str, source: object, case: object, pieces: object = None) -> None:
    """Once and left running, the answer is the same, or both refuse the input."""
    with plain_errors(case):
        once, kept = _once(text, source), _kept(text, source if pieces is None else pieces)
        if once is not None and kept is not None and _timeless(once) != _timeless(kept):
            raise Finding(f"run gives {once}, watch {kept}", case)


def _timeless(items: list[str]) -> list[bytes]:
    return [_ARRIVAL.sub(b"now", one.encode()) for one in items]


def _once(text: str, source: object) -> list[str] | None:
    try:
        return list(query(text).run(s=source).lines())
    except Error as refused:
        if refused.code == "XSCB0001":
            raise
        return None


def _kept(text: str, source: object) -> list[str] | None:
    told = Accumulated()
    try:
        for change in query(text).watch(s=source, batch=3):
            told.apply(change)
    except Error as refused:
        if refused.code == "XSCB0001":
            raise
        return None
    return told.items()
