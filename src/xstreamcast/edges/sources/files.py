"""Files in the order in which they are read: those that are there, and with `follow` what comes.

The last file is read on while it grows. A new file, by its content and not by its name, ends it: a
file that is renamed into place after it was read is no other. One that has changed since it ended
is read a second time, whole. The notes of a checkpoint hold the order, and what each file was.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from xstreamcast.edges.inputs import message_in, opened, paths
from xstreamcast.edges.notes import note
from xstreamcast.edges.sources.bursts import Burst, gathered
from xstreamcast.edges.sources.compressed import (
    broken_in,
    is_compressed,
    is_cut_off,
    place_in,
)
from xstreamcast.edges.sources.notes import Notes
from xstreamcast.edges.sources.unfinished import is_unfinished
from xstreamcast.errors import Error, error

PIECE: Final = 1 << 18
_LARGEST: Final = 1 << 22  # a tick has a cost: the longer an input is, the more is read in one
WAIT: Final = 0.1  # seconds between two looks at what may grow

_OPEN: Final = (0, 0)  # the state of a file that has not ended
_CHANGED: Final = (-1, -1)  # that of one that is not what was read

Patience = Callable[[], float | None]


@dataclass(slots=True)
class _Read:
    """A file that was or is being read."""

    name: str
    identity: tuple[int, int]
    length: int = 0
    check: int = 0
    state: tuple[int, int] = _OPEN  # size and time of change when it ended


def _state_of(name: str) -> tuple[int, int]:
    """The size of a file and when it changed."""
    try:
        there = os.stat(name)
    except OSError:
        return _CHANGED
    return there.st_size, there.st_mtime_ns


@dataclass(slots=True)
class Files:
    """The files of a source: a name, a folder or a pattern."""

    source: str
    follow: bool
    patience: Patience
    notes: Notes | None = None
    whole: Callable[[bytes], bool] | None = None  # files are messages: whether one has ended
    together: int = 1  # messages that are handed out at once, if they are there
    _known: dict[tuple[int, int], _Read] = field(default_factory=dict)

    def pieces(self, ended: int = 0) -> Iterator[bytes | Burst | None]:
        """The bytes of the files, None behind each; first of those that the notes name.

        Where files are messages, those that are there come together.
        """
        begun = None
        for name, end in self._noted(ended):
            one = self._met(name)
            if end is None:
                begun = one
            else:
                yield from self._again(one, *end)
                yield None
        live = self._live(begun)
        yield from live if self.whole is None else gathered(live, self.together)

    def _live(self, begun: _Read | None) -> Iterator[bytes | None]:
        """What has not counted yet: the file that was being read, and all behind it."""
        waiting = [begun] if begun is not None else []
        waiting += self._found()
        while waiting or self.follow:
            if not waiting:
                yield from self._nothing()
                waiting = self._found()
                continue
            one = waiting.pop(0)
            if one is not begun:
                self._note(["file", one.name])
            yield from self._one(one, waiting)
            self._note(["end", one.length, one.check])
            yield None

    # -- what counts already ----------------------------------------------------------------------

    def _noted(self, ended: int) -> list[tuple[str, tuple[int, int] | None]]:
        """Files that ended in ticks that count, and the one that was being read."""
        if self.notes is None:
            return []
        found: list[tuple[str, tuple[int, int] | None]] = []
        kept = 0
        for line in self.notes.lines:
            if line[0] == "file":
                if len(found) > ended:
                    break
                found.append((line[1], None))
            elif len(found) <= ended:
                found[-1] = (found[-1][0], (line[1], line[2]))
            else:
                break
            kept += 1
        self.notes.needed(sum(end is not None for _, end in found), ended)
        self.notes.cut(kept)
        return found

    def _again(self, one: _Read, length: int, check: int) -> Iterator[bytes]:
        """The same bytes as before, or nothing is right any more."""
        if self._holds_message(one.name):
            state, data = _state_of(one.name), message_in(one.name)
            one.state = state if len(data) == length else _CHANGED
            yield self._counted(one, data[:length])
        else:
            with opened(one.name, growing=True) as file:
                for piece in _first_bytes(file, length):
                    yield self._counted(one, piece)
                self._finished(one, file)
        if one.check != check or one.length != length:
            raise error(
                "XSCU0003", f"{one.name} has changed since the checkpoint was written",
                hint="put it back, or begin with an empty checkpoint",
            )  # fmt: skip

    def _note(self, line: list[Any]) -> None:
        if self.notes is not None:
            self.notes.add(line)

    # -- what is there, and what comes ------------------------------------------------------------

    def _names(self) -> list[str]:
        try:
            there = paths(self.source)
            if there == [self.source]:  # it was named itself
                return there
            return [name for name in there if not is_unfinished(name)]
        except Error:
            if self.follow and (os.path.isdir(self.source) or set(self.source) & set("*?[")):
                return []
            raise

    def _met(self, name: str) -> _Read:
        try:
            there = os.stat(name)
        except OSError as failed:
            raise error("XSCU0003", f"cannot open {name}: {failed.strerror}") from None
        one = _Read(name, (there.st_dev, there.st_ino))
        self._known[one.identity] = one
        return one

    def _new(self, name: str) -> _Read | None:
        """The file, if it was not read yet, or has changed since."""
        try:
            there = os.stat(name)
        except FileNotFoundError:  # taken away since it was listed
            return None
        known = self._known.get((there.st_dev, there.st_ino))
        if known is None:
            return self._met(name)
        state = (there.st_size, there.st_mtime_ns)
        if known.state in (state, _OPEN) or (known.name != name and self._is(known, name)):
            known.name = name
            known.state = _OPEN if known.state == _OPEN else state
            return None
        return self._met(name)

    def _is(self, known: _Read, name: str) -> bool:
        """Whether a file is one that was read under another name: it begins with the same bytes."""
        if self._holds_message(name):
            data = message_in(name)[: known.length]
            return (len(data), zlib.crc32(data)) == (known.length, known.check)
        length, check = 0, 0
        with opened(name, growing=True) as file:
            for piece in _first_bytes(file, known.length):
                length, check = length + len(piece), zlib.crc32(piece, check)
        return (length, check) == (known.length, known.check)

    def _holds_message(self, name: str) -> bool:
        """Whether a file is one message, compressed: it counts as a whole."""
        return self.whole is not None and is_compressed(name)

    def _counted(self, one: _Read, piece: bytes) -> bytes:
        one.length, one.check = one.length + len(piece), zlib.crc32(piece, one.check)
        return piece

    def _found(self) -> list[_Read]:
        met = (self._new(name) for name in self._names())
        return [one for one in met if one is not None]

    def _nothing(self) -> Iterator[bytes]:
        wait = self.patience()
        time.sleep(WAIT if wait is None else wait)
        yield b""

    def _one(self, one: _Read, waiting: list[_Read]) -> Iterator[bytes]:
        """A file to its end: where it ends now, or where it has grown to when another comes."""
        if self._holds_message(one.name):
            yield from self._compressed(one, waiting)
            return
        size, last, message, state = PIECE, False, bytearray(), _state_of(one.name)
        with opened(one.name, growing=self.follow) as file:
            while True:
                piece = file.read(size)
                if piece:
                    message += piece if self.whole is not None else b""
                    yield self._counted(one, piece)
                    size = min(2 * size, _LARGEST)
                elif not self.follow or waiting or last or broken_in(file):
                    break
                elif message and self.whole is not None and self.whole(bytes(message)):
                    break  # a message that is whole counts at once
                else:
                    size = PIECE
                    yield from self._nothing()
                    waiting += self._found()
                    last = _shrunk(one, file)
            if (why := broken_in(file)) is not None:
                _say_broken(one.name, why)
                one.state = state
                return
            if is_cut_off(file):
                note(f"{one.name} is cut off; it is read again if it changes")
            self._finished(one, file)

    def _compressed(self, one: _Read, waiting: list[_Read]) -> Iterator[bytes]:
        """A message that is compressed: when it is whole, or as it is when another one comes."""
        assert self.whole is not None
        state, data = _state_of(one.name), message_in(one.name)
        while self.follow and not waiting and not self.whole(data):
            yield from self._nothing()
            waiting += self._found()
            now = _state_of(one.name)
            if now not in (state, _CHANGED):
                state, data = now, message_in(one.name)
        one.state = state
        yield self._counted(one, data)

    def _finished(self, one: _Read, file: BinaryIO) -> None:
        try:
            there = os.stat(one.name)
        except OSError:
            one.state = _CHANGED
            return
        # What was added since the last look has not been read: it has changed.
        read = not file.read(1) and (place_in(file) == there.st_size or bool(broken_in(file)))
        one.state = (there.st_size, there.st_mtime_ns) if read else _CHANGED


def _say_broken(name: str, why: str) -> None:
    note(
        f"{name} cannot be decompressed: {why}; its rest is left out, and it is read again if it "
        "changes"
    )


def _shrunk(one: _Read, file: BinaryIO) -> bool:
    """Whether it was truncated: it is read from its beginning."""
    try:
        return os.path.getsize(one.name) < place_in(file)
    except OSError:
        return False  # taken away: what is open is read on


def _first_bytes(file: BinaryIO, length: int) -> Iterator[bytes]:
    """So many bytes that a file begins with, or those that it has."""
    while length and (piece := file.read(min(_LARGEST, length))):
        length -= len(piece)
        yield piece
