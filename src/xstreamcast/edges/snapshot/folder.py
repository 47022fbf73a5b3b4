"""The snapshots of a checkpoint: DIR/snapshots, a file each, the two newest of them.

A file is written under another name, put on disk, and then given its own: it is there whole or not
at all. One that is damaged, of a later format or of another query is reported and not used, and
the one before it is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from xstreamcast.edges.disk import make_folder, put_whole, take_away
from xstreamcast.edges.snapshot.container import Snapshot, unpacked
from xstreamcast.operators.snapshot.arrow import Unreadable, is_there

_KEPT: Final = 2
_SUFFIX: Final = ".snapshot"


class SnapshotFolder:
    """Writes snapshots, and finds the newest that fits."""

    def __init__(self, checkpoint: Path, say: Callable[[str], None]) -> None:
        self._folder, self._say = checkpoint / "snapshots", say

    def newest(self, owner: Mapping[str, Any], longest: int) -> Snapshot | None:
        """The newest that is of this owner and covers no more than a journal of this length."""
        refused = False
        for path in self._paths():
            refused = True
            if not is_there():
                self._refuse(path, "pyarrow is not installed (pip install 'xstreamcast[table]')")
                break
            try:
                found = unpacked(path.read_bytes())
                _check(found, owner, longest)
            except Unreadable as why:
                self._refuse(path, str(why))
            except OSError as failed:
                self._refuse(path, (failed.strerror or "it cannot be read").lower())
            else:
                return found
        if refused:
            self._say("no snapshot can be used: the journal is read from its beginning")
        return None

    def _refuse(self, path: Path, why: str) -> None:
        self._say(f"the snapshot {path} is not used: {why}")

    def _paths(self) -> Iterator[Path]:
        """The files, the newest first; what was not finished is taken away."""
        if not self._folder.is_dir():
            return
        for path in self._folder.glob("*.part"):
            take_away(path)
        yield from sorted(self._folder.glob(f"*{_SUFFIX}"), reverse=True)

    def write(self, raw: bytes, offset: int) -> None:
        """Keep a snapshot that covers the journal up to an offset; older ones go."""
        make_folder(self._folder)
        put_whole(self._folder / f"{offset:016}{_SUFFIX}", raw)
        for old in list(self._paths())[_KEPT:]:
            take_away(old)


def _check(found: Snapshot, owner: Mapping[str, Any], longest: int) -> None:
    """Whether a snapshot is of this query, run in this way, over this journal."""
    for what, mine in owner.items():
        if found.header["owner"].get(what) != mine:
            said = "it is of another query" if what == "query" else f"it is of other {what}"
            raise Unreadable(said)
    if found.header["covered"]["offset"] > longest:
        raise Unreadable("the journal is shorter than the part that it covers")
