"""Chains of versions: arrivals without repetitions, ordered by id, instant and arrival."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xstreamcast.kernels.compiled import kernel

U8 = npt.NDArray[np.uint8]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]

TEMPORARY, ENDS_ZONED = 8, 16  # bits of flags; bit 0: the valid time has a time zone
_SHORT = 24  # chains up to this length are sorted in place


class Keys(NamedTuple):
    """What distinguishes two arrivals."""

    id: I32
    valid: I64
    hash: U64
    before: I32  # the arrival of the same id and instant before it, -1 = none


class Arrived(NamedTuple):
    """What arrivals say of their place among the versions of an id."""

    id: I32
    valid: I64
    flags: U8
    to: I64  # where a version ends at the latest
    version: I64  # of one id and instant the greatest counts


class Chains(NamedTuple):
    """Version v of code c: first[c] <= v < first[c + 1]; `place` is where it arrived."""

    first: I64
    place: I32
    begin: I64
    end: I64
    zones: U8  # bit 0: the begin has a time zone, bit 1: the end has


@kernel
def _slot(slots: I32, kept: Keys, id: int, valid: int) -> int:
    """Where the last arrival of an id and instant is, or would be, in the table."""
    mask = np.uint64(len(slots) - 1)
    mixed = np.uint64(id) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= np.uint64(valid) * np.uint64(0xC2B2AE3D27D4EB4F)
    at = ((mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(24)
    at &= mask
    while slots[at] >= 0:
        k = slots[at]
        if kept.id[k] == id and kept.valid[k] == valid:
            break
        at = (at + np.uint64(1)) & mask
    return int(np.int64(at))


@kernel
def enter(slots: I32, kept: Keys, count: int, new: Keys, again: Bools, fresh: Bools) -> int:
    """Keep the arrivals that say something new → how many are kept.

    One says nothing new if it says what the last of its id and instant said; one that is sent
    `again`, if any of them said it.
    """
    for i in range(len(new.id)):
        at = _slot(slots, kept, new.id[i], new.valid[i])
        one = slots[at]
        while again[i] and one >= 0 and kept.hash[one] != new.hash[i]:
            one = kept.before[one]
        fresh[i] = one < 0 or kept.hash[one] != new.hash[i]
        if fresh[i]:
            kept.id[count], kept.valid[count] = new.id[i], new.valid[i]
            kept.hash[count], kept.before[count] = new.hash[i], slots[at]
            slots[at] = count
            count += 1
    return count


@kernel
def refill(slots: I32, kept: Keys, count: int) -> None:
    """Fill a new table."""
    for i in range(count):
        slots[_slot(slots, kept, kept.id[i], kept.valid[i])] = i


@kernel
def _sorted(chain: I32, valid: I64) -> None:
    """Put a chain in the order of instants; arrivals at one instant stay as they are."""
    n, ordered = len(chain), True
    for i in range(1, n):
        if valid[chain[i - 1]] > valid[chain[i]]:
            ordered = False
            break
    if ordered:
        return
    if n > _SHORT:
        chain[:] = chain[np.argsort(valid[chain], kind="mergesort")]
        return
    for i in range(1, n):
        one, k = chain[i], i
        while k > 0 and valid[chain[k - 1]] > valid[one]:
            chain[k] = chain[k - 1]
            k -= 1
        chain[k] = one


@kernel
def _buckets(id: I32, codes: int) -> tuple[I64, I32]:
    first = np.zeros(codes + 1, np.int64)
    for i in range(len(id)):
        first[id[i] + 1] += 1
    for code in range(codes):
        first[code + 1] += first[code]
    order, at = np.empty(len(id), np.int32), first[:-1].copy()
    for i in range(len(id)):
        order[at[id[i]]] = i
        at[id[i]] += 1
    return first, order


@kernel
def chained(a: Arrived, codes: int, until: int, now: int) -> Chains:
    """The versions up to the instant `until`: of those at one instant, the last to arrive.

    Each ends where the next begins or where it says, the last at `now`. What is temporary hides
    the others of its id while it lasts, so that one arrival may make several versions.
    """
    first, order = _buckets(a.id, codes)
    layered = np.zeros(codes, np.bool_)
    for i in range(len(a.id)):
        layered[a.id[i]] |= a.flags[i] & TEMPORARY != 0
    room = len(a.id) * 2 if layered.any() else len(a.id)
    starts, place = np.zeros(codes + 1, np.int64), np.empty(room, np.int32)
    begin, end = np.empty(room, np.int64), np.empty(room, np.int64)
    out = Chains(starts, place, begin, end, np.zeros(room, np.uint8))
    for code in range(codes):
        chain = order[first[code] : first[code + 1]]
        _sorted(chain, a.valid)
        at = int(starts[code])
        if layered[code]:
            starts[code + 1] = _layers(a, chain, until, now, at, out)
        else:
            starts[code + 1] = _ended_by_the_next(a, chain, until, now, at, out)
    at = int(starts[codes])
    return Chains(starts, place[:at].copy(), begin[:at], end[:at], out.zones[:at])


@kernel
def _ended_by_the_next(a: Arrived, chain: I32, until: int, now: int, at: int, out: Chains) -> int:
    """Write the versions of an id without anything temporary from `at` on → where they end.

    One that ends where it begins is written, too: it ends the one before it. It is an event, or
    readers leave it out.
    """
    start = at
    for one in chain:
        if a.valid[one] > until:
            break
        if at > start and out.begin[at - 1] == a.valid[one]:
            if a.version[out.place[at - 1]] > a.version[one]:
                continue
            at -= 1
        elif at > start:
            out.end[at - 1] = a.valid[one]
        out.place[at], out.begin[at], out.end[at] = one, a.valid[one], now
        at += 1
    for k in range(start, at):
        one = out.place[k]
        out.zones[k] = a.flags[one] & 1
        if k + 1 < at:
            out.zones[k] |= (a.flags[out.place[k + 1]] & 1) << 1
        if a.to[one] < out.end[k] and a.to[one] <= until:
            out.end[k] = a.to[one]
            out.zones[k] = (out.zones[k] & 1) | (a.flags[one] & ENDS_ZONED) >> 3
    return at


@kernel
def _layers(a: Arrived, chain: I32, until: int, now: int, at: int, out: Chains) -> int:
    """Write the versions of an id where some are temporary: of each stretch of time, what holds."""
    edges = np.empty(2 * len(chain) + 1, np.int64)
    count = 0
    for one in chain:
        if a.valid[one] <= until:
            edges[count], count = a.valid[one], count + 1
            if a.to[one] <= until:
                edges[count], count = a.to[one], count + 1
    edges[count] = now
    edges = edges[: count + 1]
    edges = edges[np.argsort(edges, kind="mergesort")]
    several = _distinct(edges)
    holds, since = -1, np.int64(0)
    for k in range(several):
        one_holds = _holding(a, chain, edges[k], until) if k + 1 < several else -1
        if one_holds == holds and not (holds >= 0 and a.valid[holds] == edges[k]):
            continue
        if holds >= 0:
            out.place[at], out.begin[at], out.end[at] = holds, since, edges[k]
            starting = int(a.flags[holds] & 1)
            if since != a.valid[holds]:
                starting = _zone_at(a, chain, int(since))
            out.zones[at] = starting | _zone_at(a, chain, int(edges[k])) << 1
            at += 1
        holds, since = one_holds, edges[k]
    return at


@kernel
def _distinct(values: I64) -> int:
    """Bring the different ones of sorted values to the front → how many they are."""
    last = 0
    for i in range(1, len(values)):
        if values[i] != values[last]:
            last += 1
            values[last] = values[i]
    return last + 1


@kernel
def _holding(a: Arrived, chain: I32, instant: int, until: int) -> int:
    """Which arrival holds at an instant, -1 = none: the last temporary one, else the last.

    What takes back counts among those that are not temporary; the one before it holds.
    """
    alive, top = np.int32(-1), np.int32(-1)
    under, below = np.int32(-1), np.int32(-1)
    for one in chain:
        if a.valid[one] > instant:
            break
        temporary = a.flags[one] & TEMPORARY != 0 and not _takes_back(a, int(one))
        known = top if temporary else under
        if known >= 0 and a.valid[known] == a.valid[one] and a.version[known] > a.version[one]:
            continue
        if not temporary:
            if under >= 0 and a.valid[under] != a.valid[one] and not _takes_back(a, int(under)):
                below = under
            under = one
            continue
        if top >= 0 and a.valid[top] != a.valid[one] and not _ended(a, int(top), instant, until):
            alive = top
        top = one
    if top >= 0 and not _ended(a, int(top), instant, until):
        return int(top)
    if alive >= 0:
        return int(alive)
    if under >= 0 and _takes_back(a, int(under)):
        under = below
    return -1 if under < 0 or _ended(a, int(under), instant, until) else int(under)


@kernel
def _takes_back(a: Arrived, one: int) -> bool:
    """Whether an arrival is temporary and ends before it begins: what was said there never held."""
    return a.flags[one] & TEMPORARY != 0 and a.to[one] < a.valid[one]


@kernel
def _ended(a: Arrived, one: int, instant: int, until: int) -> bool:
    return a.to[one] <= instant and a.to[one] <= until


@kernel
def _zone_at(a: Arrived, chain: I32, instant: int) -> int:
    """Whether the instant at which a version begins or ends came with a time zone."""
    for one in chain:
        if a.valid[one] == instant:
            return int(a.flags[one] & 1)
        if a.to[one] == instant:
            return int((a.flags[one] & ENDS_ZONED) >> 4)
    return 0
