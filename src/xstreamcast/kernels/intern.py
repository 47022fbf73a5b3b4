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
Bools = npt.NDArray[np.bool_]


class _Tables(NamedTuple):
    state: I64  # how many codes, how many bytes of texts, the seed, how many codes are free
    heap: U8
    start: I64
    length: I32  # -1: the code is free
    hash: U64
    free: I32  # codes that were taken back, the next one last
    slots: I32  # open addressing, linear probing, -1 = free; a power of two, at most half full


@kernel
def _intern(t: _Tables, heap: U8, start: I64, length: I32, first: int, out: I32) -> int:
    """Codes for the spans from `first` on; stops where the tables are full: how many are done.

    All in one loop over plain arrays: a call for each text would count references to all of them.
    """
    texts, starts, lengths, hashes, slots = t.heap, t.start, t.length, t.hash, t.slots
    mask, seed = np.uint64(len(slots) - 1), np.uint64(t.state[2])
    count, used, spare = t.state[0], t.state[1], t.state[3]
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
            if (spare == 0 and count >= len(starts)) or used + size > len(texts):
                done = i
                break
            if spare > 0:
                spare -= 1
                code = t.free[spare]
            else:
                code = np.int32(count)
                count += 1
            for k in range(size):
                texts[used + k] = heap[begin + k]
            starts[code], lengths[code], hashes[code] = used, size, hashed
            slots[at] = code
            used += size
        out[i] = code
    t.state[0], t.state[1], t.state[3] = count, used, spare
    return done


@kernel
def _refill(t: _Tables) -> None:
    mask = np.uint64(len(t.slots) - 1)
    for code in range(t.state[0]):
        if t.length[code] < 0:
            continue
        at = t.hash[code] & mask
        while t.slots[at] >= 0:
            at = (at + np.uint64(1)) & mask
        t.slots[at] = code


class Ids:
    """Texts and their codes: 0, 1, 2 … in the order in which they were first met.

    Codes that nobody needs can be taken back; they are given to other texts then, the least first.
    """

    def __init__(self, room: int = 1024) -> None:
        self._t = _tables(room, 16 * room)
        self._t.state[2] = int.from_bytes(os.urandom(8), "big") >> 2
        self.kept = 0  # how many texts there were when codes were last taken back

    def __len__(self) -> int:
        return int(self._t.state[0])

    def __repr__(self) -> str:
        return f"<Ids: {self.texts} texts, {int(self._t.state[1])} bytes>"

    @property
    def texts(self) -> int:
        """How many texts have a code."""
        return int(self._t.state[0] - self._t.state[3])

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

    def take_back(self, needed: Bools) -> I64:
        """Forget the texts of all codes but these → the codes that are free by that."""
        t, count = self._t, len(self)
        gone = np.flatnonzero((t.length[:count] >= 0) & ~needed[:count])
        t.length[gone] = -1
        heap, length = self.packed()
        there = length >= 0
        t.start[:count][there] = np.cumsum(length[there], dtype=np.int64) - length[there]
        t.heap[: len(heap)] = heap
        t.state[0] = count = int(np.flatnonzero(there)[-1]) + 1 if there.any() else 0
        self._free_the_rest(count, len(heap))
        self.kept = self.texts
        return gone

    def packed(self) -> tuple[U8, I32]:
        """The bytes of all texts in the order of their codes, and their lengths; -1 if free."""
        heap, start, length = self.spans()
        sizes = np.maximum(length, 0).astype(np.int64)
        at = np.repeat(start - (np.cumsum(sizes) - sizes), sizes)
        return heap[at + np.arange(len(at))], length.copy()

    def fill(self, heap: U8, length: I32) -> None:
        """Give texts the codes that they had: what `packed` gave of others, into an empty table."""
        start = np.cumsum(np.maximum(length, 0), dtype=np.int64) - np.maximum(length, 0)
        used = length >= 0
        self.codes(np.concatenate((heap, np.zeros(1, np.uint8))), start[used], length[used])
        count = int(np.count_nonzero(used))
        if len(self) != count:
            raise ValueError("a text has two codes")
        if len(length) > len(self._t.start):
            self._resize(1 << len(length).bit_length(), len(self._t.heap))
        t, codes = self._t, np.flatnonzero(used)
        spread = [(column, column[:count].copy()) for column in (t.start, t.length, t.hash)]
        t.length[: len(length)] = -1
        for column, values in spread:
            column[codes] = values
        t.state[0] = len(length)
        self._free_the_rest(len(length), len(heap))

    def _free_the_rest(self, count: int, used: int) -> None:
        """All codes without a text are free; the texts are found again."""
        t = self._t
        free = np.flatnonzero(t.length[:count] < 0)[::-1]
        t.free[: len(free)] = free
        t.state[1], t.state[3] = used, len(free)
        t.slots[:] = -1
        _refill(t)

    def spans(self) -> tuple[U8, I64, I32]:
        """(heap, start, length) of all texts, for kernels."""
        count, used = int(self._t.state[0]), int(self._t.state[1])
        return self._t.heap[:used], self._t.start[:count], self._t.length[:count]

    @property
    def nbytes(self) -> int:
        """Bytes that the tables take."""
        return sum(table.nbytes for table in self._t)

    def _grow(self, needed: int) -> None:
        """Make room for a text of this length, where it lacks: for its code, or for its bytes."""
        t = self._t
        room, heap = len(t.start), len(t.heap)
        if t.state[1] + needed > heap:
            heap = max(2 * heap, heap + needed)
        if t.state[3] == 0 and t.state[0] >= room:
            room *= 2
        self._resize(room, heap)

    def _resize(self, room: int, heap: int) -> None:
        old, new = self._t, _tables(room, heap)
        for name, kept in old._asdict().items():
            if name != "slots":
                getattr(new, name)[: len(kept)] = kept
        _refill(new)
        self._t = new


def _tables(room: int, heap: int) -> _Tables:
    return _Tables(
        state=np.zeros(4, np.int64),
        heap=np.zeros(heap, np.uint8),
        start=np.zeros(room, np.int64),
        length=np.zeros(room, np.int32),
        hash=np.zeros(room, np.uint64),
        free=np.zeros(room, np.int32),
        slots=np.full(2 * room, -1, np.int32),
    )
