"""A disk that loses power: every call that writes is noted, and what may be left after each.

A file keeps what was synced. What was not may be there, be gone, be there in part, or be there as
zeros (the length was kept and the bytes were not). A name keeps what its folder listed when that
was synced; what was renamed, made or deleted since may have happened, or not, or only the last of
it. A state of a disk is a mapping of paths to bytes (None: a folder).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from xstreamcast.edges.disk import SystemCalls

State = dict[str, bytes | None]
Data = Literal["all", "none", "half", "zeros"]
Names = Literal["all", "none", "last"]
VARIANTS: list[tuple[Data, Names]] = [
    (data, names) for data in ("all", "none", "half", "zeros") for names in ("all", "none", "last")
]


class Call(NamedTuple):
    """One call: what, of which file (by its number) or under which name, with what."""

    kind: str
    file: int = -1
    path: str = ""
    data: bytes = b""
    length: int = 0
    old: str = ""


class Failing(SystemCalls):
    """Calls below a folder that are noted; the one of a number fails, in one of several ways."""

    def __init__(self, root: Path, fails: int | None = None, how: str = "full") -> None:
        self.root_path, self.root, self.fails, self.how = root, str(root), fails, how
        self.log: list[Call] = []
        self._files: dict[int, int] = {}  # numbers of files by their inodes
        self._handles: dict[int, tuple[int, str]] = {}
        self._count = 0

    def _below(self, path: str) -> str | None:
        where = os.path.abspath(path)
        return where if where == self.root or where.startswith(self.root + os.sep) else None

    def _number(self, handle: int) -> int:
        return self._files.setdefault(os.fstat(handle).st_ino, len(self._files))

    def _next(self) -> bool:
        """Whether this call is the one that fails."""
        self._count += 1
        return self._count - 1 == self.fails

    def _fail(self) -> None:
        if self._next():
            raise OSError(errno.ENOSPC if self.how == "full" else errno.EIO, "a failing disk")

    def open(self, path: str, flags: int) -> int:
        where = self._below(path)
        new = where is not None and flags & os.O_CREAT and not os.path.exists(path)
        if new:
            self._fail()
        handle = super().open(path, flags)
        if where is None:
            return handle
        if os.path.isdir(path):
            self._handles[handle] = (-1, where)
            return handle
        number = self._number(handle)
        self._handles[handle] = (number, where)
        if new:
            self.log.append(Call("create", number, where))
        if flags & os.O_TRUNC and not new:
            self.log.append(Call("truncate", number, where, length=0))
        return handle

    def close(self, handle: int) -> None:
        self._handles.pop(handle, None)
        super().close(handle)

    def write(self, handle: int, data: bytes | memoryview) -> int:
        known = self._handles.get(handle)
        if known is None:
            return super().write(handle, data)
        if self._next():
            if self.how != "cut":
                raise OSError(errno.ENOSPC if self.how == "full" else errno.EIO, "a failing disk")
            self.fails = self._count  # the next call finds no room for the rest
            self.how = "full"
            data = bytes(data)[: len(data) // 2]
        self.log.append(Call("write", known[0], known[1], bytes(data)))
        return super().write(handle, data) if data else 0

    def truncate(self, handle: int, length: int) -> None:
        if (known := self._handles.get(handle)) is not None:
            self._fail()
            self.log.append(Call("truncate", known[0], known[1], length=length))
        super().truncate(handle, length)

    def sync(self, handle: int) -> None:
        if (known := self._handles.get(handle)) is not None:
            self._fail()
            self.log.append(Call("sync folder" if known[0] < 0 else "sync", *known))
            return  # what this means is decided by the log: the machine's own disk may rest
        super().sync(handle)

    def replace(self, old: str, new: str) -> None:
        self._named("replace", old, new)
        super().replace(old, new)

    def link(self, old: str, new: str) -> None:
        self._named("link", old, new)
        super().link(old, new)

    def _named(self, kind: str, old: str, new: str) -> None:
        before, after = self._below(old), self._below(new)
        if before is not None and after is not None:
            self._fail()
            if kind == "link" and os.path.exists(new):
                return  # it will be refused
            self.log.append(Call(kind, path=after, old=before))

    def unlink(self, path: str) -> None:
        if (where := self._below(path)) is not None:
            self._fail()
            self.log.append(Call("unlink", path=where))
        super().unlink(path)

    def mkdir(self, path: str) -> None:
        if (where := self._below(path)) is not None:
            self._fail()
            self.log.append(Call("mkdir", path=where))
        super().mkdir(path)


@dataclass(slots=True)
class _File:
    now: bytes = b""
    synced: bytes = b""

    def _both(self) -> tuple[bytes, bytes]:
        return self.now, self.synced

    def left(self, how: Data) -> bytes:
        """What is left of it."""
        pairs = zip(self.now, self.synced, strict=False)
        same = next((at for at, (a, b) in enumerate(pairs) if a != b), min(map(len, self._both())))
        match how:
            case "all":
                return self.now
            case "none":
                return self.synced
            case "half":
                return self.now[: same + (len(self.now) - same) // 2]
            case "zeros":
                return self.now[:same] + b"\0" * (len(self.now) - same)


_FOLDER = -1


@dataclass(slots=True)
class _Folder:
    synced: dict[str, int] = field(default_factory=dict)
    since: list[list[tuple[str, int | None]]] = field(default_factory=list)  # names set or gone

    def all(self) -> dict[str, int]:
        return self.left("all")

    def left(self, how: Names) -> dict[str, int]:
        """What it lists."""
        chosen = {"all": self.since, "none": [], "last": self.since[-1:]}[how]
        names: dict[str, int | None] = dict(self.synced)
        for step in chosen:
            names.update(step)
        return {name: number for name, number in names.items() if number is not None}


class Replayed:
    """The calls of a log made again, on paper."""

    def __init__(self, root: Path, before: State) -> None:
        self.root = str(root)
        self.files: dict[int, _File] = {}
        self.folders: dict[str, _Folder] = {self.root: _Folder()}
        for number, (path, held) in enumerate(sorted(before.items()), 2):
            above = self.folders[os.path.dirname(path)]
            above.synced[path] = _FOLDER if held is None else -number
            if held is None:
                self.folders[path] = _Folder()
            else:
                self.files[-number] = _File(held, held)

    def apply(self, call: Call) -> None:
        if call.kind in ("write", "truncate", "sync") and call.file not in self.files:
            self.files[call.file] = self.files[self._number(call.path)]  # it was there before
        match call.kind:
            case "create":
                self.files[call.file] = _File()
                self._note((call.path, call.file))
            case "write":
                self.files[call.file].now += call.data
            case "truncate":
                file = self.files[call.file]
                file.now = file.now[: call.length]
            case "sync":
                file = self.files[call.file]
                file.synced = file.now
            case "sync folder":
                folder = self.folders[call.path]
                folder.synced, folder.since = folder.all(), []
            case "replace":
                number = self._number(call.old)
                self._note((call.path, number), (call.old, None))
            case "link":
                self._note((call.path, self._number(call.old)))
            case "unlink":
                self._note((call.path, None))
            case "mkdir":
                self.folders[call.path] = _Folder()
                self._note((call.path, _FOLDER))

    def _number(self, path: str) -> int:
        return self.folders[os.path.dirname(path)].all()[path]

    def _note(self, *steps: tuple[str, int | None]) -> None:
        """Names that are set in one step: they lie in one folder."""
        self.folders[os.path.dirname(steps[0][0])].since.append(list(steps))

    def left(self, data: Data, names: Names) -> State:
        """A state that the disk may be in after power was lost."""
        found: State = {}
        todo = [self.root]
        while todo:
            for path, number in self.folders[todo.pop()].left(names).items():
                if number == _FOLDER:
                    found[path] = None
                    todo.append(path)
                else:
                    found[path] = self.files[number].left(data)
        return found


def state_of(state: State, old: Path, new: Path) -> State:
    """The same state in another folder."""
    return {str(new / os.path.relpath(path, old)): held for path, held in state.items()}


def states(
    root: Path, log: list[Call], before: State | None = None
) -> Iterator[tuple[int, str, State]]:
    """All states after each call, those that differ: the number of calls, the variant, the state.

    `before` is what the disk held, synced, before the first call.
    """
    disk, seen = Replayed(root, before or {}), set[int]()
    for number in range(len(log) + 1):
        for data, names in VARIANTS:
            state = disk.left(data, names)
            known = hash(tuple(sorted((path, held or b"") for path, held in state.items())))
            if known not in seen:
                seen.add(known)
                yield number, f"data {data}, names {names}", state
        if number < len(log):
            disk.apply(log[number])


def restore(state: State, old: Path, new: Path) -> None:
    """Put a state of one folder into another, which is empty."""
    new.mkdir(parents=True)
    for path, held in sorted(state.items()):
        where = new / os.path.relpath(path, old)
        where.parent.mkdir(parents=True, exist_ok=True)
        if held is None:
            where.mkdir(exist_ok=True)
        else:
            where.write_bytes(held)
