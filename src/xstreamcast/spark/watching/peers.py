"""Workers of one machine hand batches to the worker that has the operators.

Spark gives a task any idle worker. One that has not got the operators of its partition asks the
worker that has them to process the batch, and writes down the result. Nothing depends on it:
where no process answers, or it is busy or elsewhere in the log, a worker brings its own
operators to where they must be, as it does after a crash.

The worker that has the operators of a place listens at an address of that name in the system's
abstract name space (Linux), which is gone when the worker is. Only processes of the same user are
heard and believed.
"""

from __future__ import annotations

import os
import pickle
import selectors
import socket
import struct
import sys
import threading
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final, NamedTuple

_WAITING: Final = 16
_SIZE: Final = struct.Struct("!q")
Name = tuple[Any, ...]


class Errand(NamedTuple):
    """A batch for the operators of a place, which are where the log says: at a token."""

    name: Name
    before: str  # the token of the last batch that they processed
    token: str  # of this one
    given: Any  # the batch
    now: int | None
    freezes: bool  # whether a snapshot is due


class Done(NamedTuple):
    """What came of it: rows for Spark, and a snapshot if one was due and could be written."""

    rows: Any
    counts: dict[str, int]
    snapshot: bytes | None


Answer = Callable[[Errand], Done | None]


def is_possible() -> bool:
    """Whether this is a worker of Spark, on a system that has such addresses."""
    if not sys.platform.startswith("linux"):
        return False
    from pyspark import TaskContext

    return TaskContext.get() is not None


def sent(errand: Errand) -> Done | None:
    """Have an errand done by the worker that has the operators; None: it has to be done here."""
    if errand.name in _LISTENING.names:
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        try:
            peer.connect(_address(errand.name))
            if not _is_ours(peer):
                return None
            _send(peer, pickle.dumps(tuple(errand), 5))
            found = pickle.loads(_received(peer))
        except (OSError, EOFError):
            return None  # no process is there, or it was killed: the log has what it knew
    return None if found is None else Done(*found)


class _Listening:
    """The addresses of this worker, and the thread that listens at them."""

    def __init__(self) -> None:
        self.names: dict[Name, socket.socket] = {}
        self._selector: selectors.BaseSelector | None = None
        self._lock = threading.Lock()

    def begin(self, name: Name, answer: Answer) -> None:
        """Listen at the address of a place, unless another process does."""
        with self._lock:
            if name in self.names:
                return
            place = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                place.bind(_address(name))
            except OSError:  # another worker has it, and releases it on the next request
                place.close()
                return
            place.listen(_WAITING)
            self.names[name] = place
            if self._selector is None:
                self._selector = selectors.DefaultSelector()
                threading.Thread(target=self._hear, args=(answer,), daemon=True).start()
            self._selector.register(place, selectors.EVENT_READ, name)

    def end(self, name: Name) -> None:
        """Listen there no longer."""
        with self._lock:
            place = self.names.pop(name, None)
            if place is not None and self._selector is not None:
                self._selector.unregister(place)
                place.close()

    def _hear(self, answer: Answer) -> None:
        assert self._selector is not None
        while True:
            for key, _ in self._selector.select(1.0):
                try:
                    peer, _ = key.fileobj.accept()  # type: ignore[union-attr]
                except OSError:
                    continue  # it was given up meanwhile
                with peer:
                    self._serve(peer, answer)

    def _serve(self, peer: socket.socket, answer: Answer) -> None:
        if not _is_ours(peer):
            return
        try:
            done = answer(Errand(*pickle.loads(_received(peer))))
            _send(peer, pickle.dumps(None if done is None else tuple(done), 5))
        except (OSError, EOFError):
            return  # the requester is gone: its task is retried, from the log


_LISTENING: Final = _Listening()
listen, give_up = _LISTENING.begin, _LISTENING.end


def _address(name: Name) -> bytes:
    return b"\0xstreamcast-" + sha256(repr((os.getuid(), name)).encode()).hexdigest().encode()


def _is_ours(peer: socket.socket) -> bool:
    """Whether it is a process of the same user."""
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return bool(struct.unpack("3i", credentials)[1] == os.getuid())


def _send(peer: socket.socket, raw: bytes) -> None:
    peer.sendall(_SIZE.pack(len(raw)))
    peer.sendall(raw)


def _received(peer: socket.socket) -> bytearray:
    (size,) = _SIZE.unpack(_exactly(peer, _SIZE.size))
    return _exactly(peer, size)


def _exactly(peer: socket.socket, size: int) -> bytearray:
    found = bytearray(size)
    view, at = memoryview(found), 0
    while at < size:
        got = peer.recv_into(view[at:])
        if got == 0:
            raise EOFError
        at += got
    return found
