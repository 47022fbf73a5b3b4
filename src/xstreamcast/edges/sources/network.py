"""The pieces of a source on the network, whichever kind of place it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Protocol, assert_never

from xstreamcast.edges.notes import note
from xstreamcast.edges.sources.bursts import Burst, flattened
from xstreamcast.edges.sources.credentials import credentials
from xstreamcast.edges.sources.frames import FrameLog
from xstreamcast.edges.sources.guard import OrderGuard
from xstreamcast.edges.sources.inbox import Inbox, Patience, Receiver
from xstreamcast.edges.sources.notes import Notes, file_name
from xstreamcast.edges.sources.place import SourceAddress, addresses, place_of, shown
from xstreamcast.edges.sources.xml_log import XmlLog
from xstreamcast.errors import Error, error

_QUIET: Final = 2.0  # seconds of silence after which `run` has what there is
_LOOK: Final = 0.1
_FIRST: Final = 10.0  # seconds in which the first of it must come


class Remembering(Protocol):
    """A checkpoint, as a source sees it."""

    folder: Path

    def notes(self, name: str) -> Notes:
        """The notes of an input."""

    def ended(self, name: str) -> int:
        """How many of its files or messages were read by ticks that count."""


def network_pieces(
    source: str,
    *,
    name: str | None,
    follow: bool,
    patience: Patience,
    once: bool = False,
    checkpoint: Remembering | None = None,
) -> Iterator[bytes | Burst | None]:
    """What comes from an address, or from several; `once`: what is there now."""
    places = [place_of(word) for word in addresses(source)]
    if checkpoint is not None and places[0].scheme == "kafka":
        yield from _remembered(places[0], name, checkpoint, patience)
        return
    log = None if checkpoint is None else FrameLog(_path(checkpoint, name))
    session = None if log is None else log.identity()
    receivers = [_receiver(place, name, follow, once, session) for place in places]
    try:
        inbox = Inbox(receivers, log, guard=OrderGuard())
        if once:
            yield from inbox.pieces(patience)
        else:
            yield from _awaited(inbox.pieces(_looking(patience)), shown(source))
    finally:
        if log is not None:
            log.close()


def _remembered(
    place: SourceAddress, name: str | None, checkpoint: Remembering, patience: Patience
) -> Iterator[bytes | Burst | None]:
    """Records that can be read again: only where they were is written down."""
    from xstreamcast.edges.sources.kafka import KafkaReceiver

    notes = checkpoint.notes(name or "")
    receiver = KafkaReceiver(place, credentials(place, name), False, notes)
    yield from receiver.again(checkpoint.ended(name or ""))
    found = Inbox([receiver], noting=receiver.noted).pieces(_looking(patience))
    yield from _awaited(found, place.url)


def _looking(patience: Patience) -> Patience:
    """As patient, but not for so long that a silent source would not be noticed."""

    def wait() -> float:
        seconds = patience()
        return _FIRST if seconds is None else min(seconds, _FIRST)

    return wait


def _awaited(found: Iterator[bytes | Burst | None], who: str) -> Iterator[bytes | Burst | None]:
    """The same; a note says that nothing comes: a name may be wrong."""
    began, silent = time.monotonic(), True
    for piece in found:
        if silent and piece == b"" and time.monotonic() - began >= _FIRST:
            note(f"{who}: nothing has arrived so far; waiting")
            silent = False
        silent = silent and piece == b""
        yield piece


def _receiver(
    place: SourceAddress, name: str | None, follow: bool, once: bool, session: str | None
) -> Receiver:
    known: Any = credentials(place, name)
    match place.scheme:
        case "tcp":
            from xstreamcast.edges.sources.tcp import TcpReceiver

            if place.secure:
                raise error("XSCU0003", f"{place.url}: a socket is plain; use wss:// or https://")
            return TcpReceiver(place, follow, once)
        case "ws":
            from xstreamcast.edges.sources.websocket import WebSocketReceiver

            return WebSocketReceiver(place, known, once)
        case "mqtt":
            from xstreamcast.edges.sources.mqtt import MqttReceiver

            return MqttReceiver(place, known, session, once)
        case "kafka":
            from xstreamcast.edges.sources.kafka import KafkaReceiver

            return KafkaReceiver(place, known, once, None)
        case "http":
            from xstreamcast.edges.sources.http import HttpReceiver

            return HttpReceiver(place, known, once)
        case _:
            assert_never(place.scheme)


def _path(checkpoint: Remembering, name: str | None) -> Path:
    return checkpoint.folder / f"{file_name(name or '')}.frames"


def written_down(
    source: str, log: XmlLog, name: str | None, *, follow: bool, closed: Callable[[], bool]
) -> None:
    """Receive into files until it ends or is stopped; the name is that of credentials."""
    receivers = [
        _receiver(place, name, follow, not follow, log.identity())
        for place in map(place_of, addresses(source))
    ]
    quiet = place_of(addresses(source)[0]).seconds("quiet", _QUIET)
    wait, latest, come = max(quiet, _FIRST), time.monotonic(), False
    for piece in Inbox(receivers, log).pieces(lambda: _LOOK):
        if piece != b"":
            wait, latest, come = quiet, time.monotonic(), True
        over = not follow and time.monotonic() - latest >= wait and _never_ends(source)
        if closed() or over:
            break
    if not come and not follow and not closed() and not log.marks:
        raise _nothing(source)


def _nothing(source: str) -> Error:
    hint = "quiet=1m in the address waits longer" if _never_ends(source) else None
    return error("XSCU0003", f"{shown(source)} has nothing to read", hint=hint)


def _never_ends(source: str) -> bool:
    """Whether a place says nothing when it has said all."""
    place = place_of(addresses(source)[0])
    return place.scheme not in ("kafka", "tcp") or "quiet" in place.options


def what_is_there(source: str, name: str | None = None) -> list[bytes | None]:
    """All that a place has now: to its end, or until it says nothing new for a while."""
    place = place_of(addresses(source)[0])
    quiet = place.seconds("quiet", _QUIET)
    found: list[bytes | None] = []
    known: set[bytes | None] = {None}
    latest = time.monotonic()

    def patience() -> float | None:
        return (quiet if found else max(quiet, _FIRST)) if _never_ends(source) else None

    for piece in network_pieces(source, name=name, follow=False, patience=patience, once=True):
        if piece == b"":
            break
        some = list(flattened([piece]))
        found += some
        if not known.issuperset(some):
            known.update(some)
            latest = time.monotonic()
        elif _never_ends(source) and time.monotonic() - latest >= quiet:
            break  # a carousel repeats what it has for ever
    if not found:
        raise _nothing(source)
    return found
