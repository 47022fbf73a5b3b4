"""A receiver in a thread of its own, and what it received, in order.

With a log, messages are on disk before they are passed on and acknowledged.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Protocol

from xstreamcast.edges.notes import note
from xstreamcast.edges.sources.bursts import Burst
from xstreamcast.edges.sources.frames import END, MESSAGE, PIECE, MessageFrame

_MOST: Final = 1 << 26  # bytes that wait to be taken before a receiver has to
_LEAVE: Final = 3.0  # seconds that a receiver has to say goodbye
_BURST: Final = 4096  # messages read between two ticks
_BURST_BYTES: Final = 1 << 22

Patience = Callable[[], float | None]
Done = Callable[[], None]
Noting = Callable[[Sequence[Any]], None]  # called with the origin of the next message
Guarding = Callable[[bytes], bytes]  # what of a message counts


class InboxLog(Protocol):
    """Where what came is written down."""

    @property
    def marks(self) -> Iterable[bytes]:
        """The marks of the last messages."""

    def frames(self) -> Iterator[MessageFrame]:
        """What was written before."""

    def write(self, frames: list[MessageFrame]) -> None:
        """On disk when this returns."""


class Receiver(Protocol):
    """What knows one kind of place."""

    def receive(self, out: Inbox) -> None:
        """Receive until the place ends or `out` is closed; the first failure is an error."""

    def resume(self, marks: Sequence[bytes]) -> None:
        """Before it begins: the marks of the last messages that were written down."""

    def taken(self, where: Sequence[Any]) -> None:
        """What came from these positions is in the sink."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    frame: MessageFrame
    done: Done | None = None
    where: Any = None


class Inbox:
    """Where receivers put what comes, and from where it is read in pieces."""

    def __init__(
        self, receivers: Sequence[Receiver], log: InboxLog | None = None, *,
        noting: Noting | None = None, guard: Guarding | None = None,
    ) -> None:  # fmt: skip
        self._receivers, self._log = receivers, log
        self._noting, self._guard = noting, guard
        self._changed = threading.Condition()
        self._pending: list[_Waiting] = []  # not on disk yet
        self._ready: deque[_Waiting] = deque()
        self._held = 0
        self._running = len(receivers)
        self._writing = False
        self._closed = threading.Event()
        self._closing: list[Done] = []
        self._threads: list[threading.Thread] = []
        self._failed: BaseException | None = None
        self.several = len(receivers) > 1

    # -- for receivers ----------------------------------------------------------------------------

    @property
    def closed(self) -> bool:
        return self._closed.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait; true: it was closed meanwhile."""
        return self._closed.wait(seconds)

    def on_close(self, action: Done) -> None:
        """What ends a call that waits for the network."""
        self._closing.append(action)

    def message(
        self, data: bytes, *, done: Done | None = None, mark: bytes = b"", where: Any = None
    ) -> None:
        """A whole message; `done` is called when it cannot be lost any more."""
        self._put(_Waiting(MessageFrame(MESSAGE, data, mark), done, where))

    def piece(self, data: bytes) -> None:
        """Bytes of something that has no end yet."""
        self._put(_Waiting(MessageFrame(PIECE, data)))

    def end(self) -> None:
        """What the pieces belonged to has ended."""
        self._put(_Waiting(MessageFrame(END)))

    def say(self, sentence: str) -> None:
        """A note for the user."""
        if self.closed:
            return
        note(sentence)

    def _put(self, one: _Waiting) -> None:
        with self._changed:
            while self._held > _MOST and not self.closed:
                self._changed.wait(0.5)
            self._held += len(one.frame.data)
            (self._ready if self._log is None else self._pending).append(one)
            self._changed.notify_all()
        if self._log is None and one.done is not None:
            one.done()

    # -- threads ----------------------------------------------------------------------------------

    def _start(self) -> None:
        if self._log is not None:
            self._threads.append(threading.Thread(target=self._write, daemon=True))
        for receiver in self._receivers:
            if self._log is not None:
                receiver.resume(tuple(self._log.marks))
            made = threading.Thread(target=self._run, args=(receiver,), daemon=True)
            self._threads.append(made)
        for thread in self._threads:
            thread.start()

    def _run(self, receiver: Receiver) -> None:
        try:
            receiver.receive(self)
        except BaseException as failed:  # raised where the pieces are taken
            if not self.closed:
                self._failed = self._failed or failed
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def _write(self) -> None:
        """Write all new messages at once, then acknowledge them."""
        assert self._log is not None
        while True:
            with self._changed:
                while not self._pending:
                    if self.closed or not self._running:
                        return
                    self._changed.wait(0.5)
                batch, self._pending = self._pending, []
                self._writing = True
            try:
                self._log.write([one.frame for one in batch])
            except BaseException as failed:
                self._failed = failed
                self.close()
                return
            with self._changed:
                self._ready.extend(batch)
                self._writing = False
                self._changed.notify_all()
            for one in batch:
                if one.done is not None:
                    one.done()

    # -- for readers ------------------------------------------------------------------------

    def pieces(self, patience: Patience) -> Iterator[bytes | Burst | None]:
        """What was written down before, piece by piece; then what comes."""
        try:
            if self._log is not None:
                yield from self._again(self._log)
            self._start()
            while (some := self._some(patience)) is not None:
                where = [one.where for one in some if one.where is not None]
                if where and self._noting is not None:
                    self._noting(where)
                yield from self._grouped(some)
                if where:
                    self._receivers[0].taken(where)
        finally:
            self.close()

    def _some(self, patience: Patience) -> list[_Waiting] | None:
        """What is there, [] when nothing came in time, None when nothing will."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._over(), patience())
            if not self._ready:
                if self._failed is not None:
                    raise self._failed
                return None if self._over() else []
            return self._taken()

    def _over(self) -> bool:
        waits = bool(self._pending) or self._writing
        return self._failed is not None or self.closed or (not self._running and not waits)

    def _taken(self) -> list[_Waiting]:
        some: list[_Waiting] = []
        size = 0
        while self._ready and len(some) < _BURST and size < _BURST_BYTES:
            some.append(self._ready.popleft())
            size += len(some[-1].frame.data)
        self._held -= size
        self._changed.notify_all()
        return some

    def close(self) -> None:
        """Receive nothing more."""
        if self.closed:
            return
        self._closed.set()
        for action in self._closing:
            action()
        with self._changed:
            self._changed.notify_all()
        for thread in self._threads:  # a broker is notified that the client disconnects
            if thread is not threading.current_thread():
                thread.join(_LEAVE)

    # -- pieces -----------------------------------------------------------------------------------

    def _again(self, log: InboxLog) -> Iterator[bytes | None]:
        for frame in log.frames():
            data = self._counting(frame)
            if data:
                yield data
            if frame.kind == END or (data and frame.kind == MESSAGE):
                yield None

    def _counting(self, frame: MessageFrame) -> bytes:
        if self._guard is None or frame.kind != MESSAGE:
            return frame.data
        return self._guard(frame.data)

    def _grouped(self, some: list[_Waiting]) -> Iterator[bytes | Burst | None]:
        """Messages in a row as one burst, pieces in a row as one piece; b"" for nothing."""
        for kind, run in groupby(some, key=lambda one: one.frame.kind):
            parts = [self._counting(one.frame) for one in run]
            if kind == MESSAGE:
                yield Burst(part for part in parts if part) or b""
            elif kind == PIECE:
                yield b"".join(parts)
            else:
                yield from (None for _ in parts)
        if not some:
            yield b""
