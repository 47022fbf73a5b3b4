"""A process for each partition, which has the operators of that partition between batches.

Spark gives a task to any idle Python worker. Operators that a worker keeps are thus in the wrong
one every second time, and it has to take in again what another one did: all workers do all the
work. So a worker keeps none. It talks to the owner of its partition, which was forked by the first
of them, and which ends when nobody has come for a while, or with the workers.

An owner may be lost at any time: its operators are made anew from the log, as those of a worker.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import socket
import tempfile
import time
import traceback
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from xstreamcast.errors import Error
from xstreamcast.spark.watching.facts import error_facts, error_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xstreamcast.spark.watching.state import Stage

_IDLE: Final = 60.0  # seconds without a task after which an owner ends, as a worker of Spark does
_LOOK: Final = 5.0  # seconds between two looks whether the workers are still there
_LONGEST: Final = 100  # bytes in the address of a socket


class Kept(NamedTuple):
    """Operators, the batches of the log that they have taken in, and the token of the last one."""

    token: str
    number: int
    host: Any


Keep = dict[tuple[Any, ...], Kept]  # by run, stage and key


class Lost(Exception):
    """The owner is not there any more."""


class Here:
    """The operators of one key of a stage, in this process."""

    def __init__(self, stage: Stage, name: tuple[Any, ...], key: Any, kept: Keep) -> None:
        self._stage, self._name, self._key, self._kept = stage, name, key, kept
        self._host: Any = None

    def begin(self) -> tuple[str, int] | None:
        """Take out what is kept → its token and number; what a failure leaves is not used again."""
        known = self._kept.pop(self._name, None)
        self._host = None if known is None else known.host
        return None if known is None else (known.token, known.number)

    def make(self, snapshot: bytes | None) -> None:
        """New operators; or those of a snapshot."""
        self._host = self._stage.make(self._key)
        if snapshot:
            self._stage.thaw(self._host, snapshot)

    def lead(self, raw: bytes, now: int | None) -> None:
        """Take a batch in that was taken in elsewhere."""
        self._stage.take(self._host, self._stage.unlogged(raw), now)

    def take(self, batch: Any, now: int | None) -> tuple[bool, Any]:
        """Take a batch in → whether that was possible, and the rows that Spark gets."""
        try:
            made = self._stage.take(self._host, batch, now)
        except Error as why:
            return False, self._stage.failed(self._key, why, self._host)
        return True, self._stage.rows(self._key, made)

    def freeze(self) -> bytes | None:
        """A snapshot."""
        return self._stage.freeze(self._host)

    def keeps_batches(self) -> bool:
        """Whether batches are read again that a snapshot has."""
        return self._stage.keeps_batches(self._host)

    def keep(self, token: str, number: int) -> None:
        """Keep the operators for the next batch."""
        self._kept[self._name] = Kept(token, number, self._host)


class Owned:
    """The operators of one key of a stage, in the process that owns the partition."""

    def __init__(self, stage: Stage, name: tuple[Any, ...], key: Any, to: Connection) -> None:
        self._to = to
        self._call("open", pickle.dumps(stage), name, key)

    def begin(self) -> tuple[str, int] | None:
        return self._call("begin")  # type: ignore[no-any-return]

    def make(self, snapshot: bytes | None) -> None:
        self._call("make", snapshot)

    def lead(self, raw: bytes, now: int | None) -> None:
        self._call("lead", raw, now)

    def take(self, batch: Any, now: int | None) -> tuple[bool, Any]:
        return self._call("take", batch, now)  # type: ignore[no-any-return]

    def freeze(self) -> bytes | None:
        """A snapshot, if there is still somebody who can say it."""
        try:
            return self._call("freeze")  # type: ignore[no-any-return]
        except Lost:
            return None

    def keeps_batches(self) -> bool:
        return False

    def keep(self, token: str, number: int) -> None:
        with suppress(Lost):
            self._call("keep", token, number)

    def _call(self, what: str, *told: Any) -> Any:
        try:
            self._to.send((what, told))
            said, found = self._to.recv()
        except (EOFError, OSError) as gone:
            raise Lost(str(gone)) from None
        match said:
            case "error":
                raise error_from(found)
            case "broken":
                raise RuntimeError(found)
            case _:
                return found


# -- the owner ------------------------------------------------------------------------------------


def reached(home: str, partition: int) -> Connection:
    """The owner of a partition of a run; a new one if there is none."""
    folder = Path(tempfile.gettempdir()) / f"xstreamcast-{home[:16]}"
    folder = folder if len(str(folder)) < _LONGEST - 8 else Path("/tmp") / folder.name
    folder.mkdir(mode=0o700, exist_ok=True)
    with _alone(folder / f"{partition}.lock"):
        at = str(folder / str(partition))
        return _connected(at) or _forked(at)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _connected(at: str) -> Connection | None:
    made = socket.socket(socket.AF_UNIX)
    try:
        made.connect(at)
    except OSError:
        made.close()
        return None
    return Connection(made.detach())


def _forked(at: str) -> Connection:
    with suppress(FileNotFoundError):
        os.unlink(at)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(at)
        listening.listen()
        workers = os.getppid()  # what forks workers
        if os.fork() == 0:
            _own(listening, at, workers)
    found = _connected(at)
    if found is None:
        raise Lost(f"nobody listens at {at}")
    return found


def _own(listening: socket.socket, at: str, workers: int) -> None:
    """What the new process does; it has nothing of the worker's but its memory."""
    try:
        _let_go(listening.fileno())
        listening.settimeout(_LOOK)
        kept: Keep = {}
        last = time.monotonic()
        while time.monotonic() - last < _IDLE and _is_there(workers):
            with suppress(TimeoutError):
                with Connection(listening.accept()[0].detach()) as task:
                    _serve(task, kept)
                last = time.monotonic()
        with suppress(OSError):
            os.unlink(at)
    finally:
        os._exit(0)


def _let_go(but: int) -> None:
    """Close what Spark would otherwise wait for to be closed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.closerange(3, but)
    os.closerange(but + 1, os.sysconf("SC_OPEN_MAX"))


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _serve(task: Connection, kept: Keep) -> None:
    """Do what a task asks for, until it has gone; what is not to be kept is dropped with it."""
    here: Here | None = None
    while True:
        try:
            what, told = task.recv()
        except (EOFError, OSError):
            return
        try:
            if what == "open":
                stage, name, key = told
                here, found = Here(pickle.loads(stage), name, key, kept), None
            else:
                found = getattr(here, what)(*told)
            said = "done"
        except Error as why:
            said, found = "error", error_facts(why)
        except Exception:
            said, found = "broken", traceback.format_exc()
        try:
            task.send((said, found))
        except OSError:
            return
