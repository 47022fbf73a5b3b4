"""What Spark's state store has for one place of a query: batches by number, and a snapshot.

One state variable holds it all, because Spark makes an encoder for each of them in each task, which
costs more than what is read and written:

     0, 1, …   a batch: its token, its clock, its bytes
    -1         the log: what there is of batches and of the snapshot
    -2, -3, …  pieces of the last snapshot
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from xstreamcast.edges.table.schema import arrow

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

FORMAT: Final = 2  # of what is written here; 1 had three state variables
_NAME: Final = "kept"
_LOG: Final = -1
_PIECES: Final = -2  # the first of them; the others are below
_PIECE: Final = 4 << 20  # bytes of a snapshot in one value


class StateLog(NamedTuple):
    """Which state the store has, and what of it: batches by number, from the oldest kept on."""

    token: str = ""
    number: int = 0  # batches processed so far
    first: int = 0  # the first that the snapshot does not have
    before: int = 0  # the same of the snapshot before it: older ones are of no use
    oldest: int = 0
    logged: int = 0  # bytes since the snapshot
    held: int = 0  # bytes of the snapshot
    made_for: str = ""
    pieces: int = 0  # of the snapshot
    stage: str = ""  # whose state this is


class StoredBatch(NamedTuple):
    """A batch of the log."""

    token: str
    now: int | None
    raw: bytes


class KeyValues:
    """The values of one key."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        kind = "token string, now bigint, raw binary"
        self._values: Any = handle.getMapState(_NAME, "number bigint", kind)

    def log(self) -> StateLog | None:
        found = self._values.getValue((_LOG,))
        return None if found is None else StateLog(*json.loads(bytes(found[2])))

    def write_log(self, log: StateLog) -> None:
        self._values.updateValue((_LOG,), ("", None, json.dumps(log).encode()))

    def batch(self, number: int) -> StoredBatch | None:
        found = self._values.getValue((number,))
        return None if found is None else StoredBatch(found[0], found[1], bytes(found[2]))

    def write_batch(self, number: int, batch: StoredBatch) -> None:
        self._values.updateValue((number,), tuple(batch))

    def remove_batch(self, number: int) -> None:
        self._values.removeKey((number,))

    def snapshot(self, log: StateLog) -> bytes:
        """The last one; empty if there is none."""
        return b"".join(bytes(self._values.getValue((_PIECES - n,))[2]) for n in range(log.pieces))

    def write_snapshot(self, log: StateLog, whole: bytes) -> StateLog:
        """Put it in the place of the one before → a log that begins behind it."""
        cut = [whole[at : at + _PIECE] for at in range(0, len(whole), _PIECE)]
        for n, piece in enumerate(cut):
            self._values.updateValue((_PIECES - n,), ("", None, piece))
        for n in range(len(cut), log.pieces):
            self._values.removeKey((_PIECES - n,))
        held, pieces = len(whole), len(cut)
        return log._replace(before=log.first, first=log.number, logged=0, held=held, pieces=pieces)


def compressed(raw: bytes) -> bytes:
    """Bytes for the store: how many there are, and what zstd makes of them."""
    return len(raw).to_bytes(8, "big") + bytes(arrow().compress(raw, "zstd", asbytes=True))


def decompressed(raw: bytes) -> bytes:
    """The bytes."""
    size = int.from_bytes(raw[:8], "big")
    return bytes(arrow().decompress(raw[8:], size, "zstd", asbytes=True))
