"""Byte strings as small numbers: a hash table in arrays, asked and filled by whole columns."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xstreamcast.kernels.compiled import kernel

U8 = npt.NDArray[np.uint8]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]


class _Tables(NamedTuple):
    state: I64  # how many texts, how many bytes of them, the seed
    heap: U8
    start: I64
    length: I32
    hash: U64
    slots: I32  # open addressing, linear probing, -1 = free; a power of two, at most half full


@kernel
def _intern(t: _Tables, heap: U8, start: I64, length: I32, first: int, out: I32) -> int:
    """Codes for the spans from `first` on; stops where the tables are full: how many are done.

    All in one loop over plain arrays: a call for each text would count references to all of them.
    """
    texts, starts, lengths, hashes, slots = t.heap, t.start, t.length, t.hash, t.slots
    mask, seed = np.uint64(len(slots) - 1), np.uint64(t.state[2])
    count, used = t.state[0], t.state[1]
    done = len(start)
    for i in range(first, len(start)):
        size, begin = int(np.int64(length[i])), start[i]
        if size < 0:
            out[i] = -1
            continue
        hashed, number = seed, np.uint64(0)
        digits = 0 < size < 19 and (heap[begin] != 48 or size == 1)
        for k in range(begin, begin + size):
            byte = np.uint64(heap[k])
            hashed = (hashed ^ byte) * np.uint64(0x100000001B3)
            digits &= 48 <= heap[k] <= 57
            number = number * np.uint64(10) + (byte & np.uint64(15))
        low = np.uint64(0)
        if digits:  # ids that are counted up stay side by side: few of them are out of the cache
            hashed, low = seed ^ (number >> np.uint64(6)), number & np.uint64(63)
        hashed = (hashed ^ (hashed >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        hashed = ((hashed >> np.uint64(20)) << np.uint64(6)) ^ (hashed & np.uint64(63)) ^ low
        at = hashed & mask
        code = slots[at]
        while code >= 0:
            if hashes[code] == hashed and lengths[code] == size:
                k, there = 0, starts[code]
                while k < size and heap[begin + k] == texts[there + k]:
                    k += 1
                if k == size:
                    break
            at = (at + np.uint64(1)) & mask
            code = slots[at]
        if code < 0:
            if count >= len(starts) or used + size > len(texts):
                done = i
                break
            for k in range(size):
                texts[used + k] = heap[begin + k]
            starts[count], lengths[count], hashes[count] = used, size, hashed
            code = np.int32(count)
            slots[at] = code
            count, used = count + 1, used + size
        out[i] = code
    t.state[0], t.state[1] = count, used
    return done


@kernel
def _refill(t: _Tables) -> None:
    mask = np.uint64(len(t.slots) - 1)
    for code in range(t.state[0]):
        at = t.hash[code] & mask
        while t.slots[at] >= 0:
            at = (at + np.uint64(1)) & mask
        t.slots[at] = code


class Ids:
    """Texts and their codes: 0, 1, 2 … in the order in which they were first met."""

    def __init__(self, room: int = 1024) -> None:
        self._t = _tables(room, 16 * room)
        self._t.state[2] = int.from_bytes(os.urandom(8), "big") >> 2

    def __len__(self) -> int:
        return int(self._t.state[0])

    def __repr__(self) -> str:
        return f"<Ids: {len(self)} texts, {int(self._t.state[1])} bytes>"

    def codes(self, heap: U8, start: I64, length: I32) -> I32:
        """The code of each span of `heap`; -1 where the length is below 0."""
        out = np.empty(len(start), np.int32)
        done = _intern(self._t, heap, start, length, 0, out)
        while done < len(start):
            self._grow(int(length[done]))
            done = _intern(self._t, heap, start, length, done, out)
        return out

    def code(self, text: str | bytes) -> int:
        """The code of one text, new if it was not met before."""
        raw = text.encode() if isinstance(text, str) else text
        heap = np.frombuffer(raw + b"\0", np.uint8)
        span = np.zeros(1, np.int64), np.array([len(raw)], np.int32)
        return int(self.codes(heap, *span)[0])

    def text(self, code: int) -> str:
        """The text of a code."""
        begin = int(self._t.start[code])
        return self._t.heap[begin : begin + int(self._t.length[code])].tobytes().decode()

    def spans(self) -> tuple[U8, I64, I32]:
        """(heap, start, length) of all texts, for kernels."""
        count, used = int(self._t.state[0]), int(self._t.state[1])
        return self._t.heap[:used], self._t.start[:count], self._t.length[:count]

    @property
    def nbytes(self) -> int:
        """Bytes that the tables take."""
        return sum(table.nbytes for table in self._t)

    def _grow(self, needed: int) -> None:
        old = self._t
        new = _tables(2 * len(old.start), max(2 * len(old.heap), len(old.heap) + needed))
        for name, kept in old._asdict().items():
            if name != "slots":
                getattr(new, name)[: len(kept)] = kept
        _refill(new)
        self._t = new


def _tables(room: int, heap: int) -> _Tables:
    return _Tables(
        state=np.zeros(3, np.int64),
        heap=np.zeros(heap, np.uint8),
        start=np.zeros(room, np.int64),
        length=np.zeros(room, np.int32),
        hash=np.zeros(room, np.uint64),
        slots=np.full(2 * room, -1, np.int32),
    )
