"""Occurrences of versions in a temporal view, found by following links from the roots down."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from xstreamcast.kernels.compiled import kernel
from xstreamcast.tape.fragments.chain_kernels import Chains

U8 = npt.NDArray[np.uint8]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]

SNAPSHOT, TEMPORAL, EVENT = range(3)
# What is made of an occurrence: nothing, a passage to what is below it, or all of its content.
GHOST, LINK, FULL = range(3)
_START: Final = -(2**63) + 1
_NOW: Final = 2**63 - 1


class Carried(NamedTuple):
    """What the arrivals carry: their tag, whether they have content, and links to others.

    Behind the links of an arrival come those to what is attached to its code: link len(link) + k
    leads to attached[k], of which only what names this code as its parent counts.
    """

    tag: I32
    content: I32  # below 0: none, a removal
    first: I64  # link k of arrival f: first[f] <= k < first[f + 1]
    link: I32  # the code that it leads to
    code: I32  # the arrival's own
    within: I32  # the code that it is attached to, -1 = none
    attached_first: I64  # by code; of length 1 where nothing is attached
    attached: I32


class Instances(NamedTuple):
    """Occurrences in document order: `parent` is the one above, `link` the one that led here."""

    place: I32
    parent: I32
    link: I32
    begin: I64
    end: I64
    zones: U8
    state: U8


class _Stack(NamedTuple):
    instance: I64
    link: I64
    last_link: I64
    owner: I64  # the code whose attached ones follow the links; -1: none; -2 - code: they are next
    version: I64
    last_version: I64
    begin: I64  # what clips those below
    end: I64
    zones: I64


@kernel
def _deeper(column: I64) -> I64:
    out = np.empty(2 * len(column), np.int64)
    out[: len(column)] = column
    return out


@kernel
def _is_below_itself(a: Carried, instance: I64, depth: int, place: I32, code: int) -> bool:
    """Whether an id is around itself; the lifespan of what is around it has been clipped."""
    found = False
    for d in range(1, depth + 1):
        found |= a.code[place[instance[d]]] == code
    return found


@kernel
def expand(
    c: Chains, a: Carried, roots: I32, clips: I64, types: U8, modes: U8, current: bool,
    out: Instances,
) -> int:  # fmt: skip
    """Write the occurrences below `roots` → how many; -1 if there is no room for them.

    `clips` are the begin, end and zones of what each root is in; empty if none is in anything.
    `types` has the type of each tag, `modes` what is made of its occurrences; `current`
    leaves out what has been superseded, and lifespans out of account.
    """
    n, d, known = 0, 0, len(c.first) - 1
    s = _Stack(
        np.zeros(16, np.int64), np.zeros(16, np.int64), np.zeros(16, np.int64),
        np.zeros(16, np.int64), np.zeros(16, np.int64), np.zeros(16, np.int64),
        np.zeros(16, np.int64), np.zeros(16, np.int64), np.zeros(16, np.int64),
    )  # fmt: skip
    linked, owners = len(a.link), len(a.attached_first) - 1
    s.instance[0], s.link[0], s.last_link[0], s.owner[0] = -1, -1, len(roots), -1
    s.version[0], s.last_version[0], s.begin[0], s.end[0] = 0, 0, _START, _NOW
    while d >= 0:
        if s.version[d] >= s.last_version[d]:
            s.link[d] += 1
            if s.link[d] >= s.last_link[d]:
                owner = s.owner[d]
                if owner < 0:
                    d -= 1
                    continue
                s.link[d] = linked + a.attached_first[owner] - 1
                s.last_link[d], s.owner[d] = linked + a.attached_first[owner + 1], -2 - owner
                continue
            if d == 0:
                code = roots[s.link[d]]
                if len(clips) > 0:
                    at = 3 * s.link[d]
                    s.begin[d], s.end[d], s.zones[d] = clips[at], clips[at + 1], clips[at + 2]
            elif s.link[d] < linked:
                code = a.link[s.link[d]]
            else:
                code = a.attached[s.link[d] - linked]
            s.version[d] = c.first[code] if code < known else 0
            s.last_version[d] = c.first[code + 1] if code < known else 0
            continue
        v = s.version[d]
        s.version[d] += 1
        f = c.place[v]
        if a.content[f] < 0 or (s.owner[d] < -1 and a.within[f] != -2 - s.owner[d]):
            continue
        if _is_below_itself(a, s.instance, d, out.place, a.code[f]):
            continue
        tag = a.tag[f]
        mode, above = modes[tag], s.instance[d]
        if mode == GHOST and (above < 0 or out.state[above] != FULL):
            continue
        begin, end, zones = c.begin[v], c.end[v], np.int64(c.zones[v])
        if types[tag] == SNAPSHOT or (current and types[tag] == TEMPORAL):
            if v + 1 < s.last_version[d] or end != _NOW:
                continue  # its latest content represents it, until its end
            begin, end, zones = _START, _NOW, np.int64(0)
        elif types[tag] == EVENT:
            if begin < s.begin[d] or begin >= s.end[d]:
                continue
            end, zones = begin, (zones & 1) * 3
        else:
            if begin < s.begin[d]:
                begin, zones = s.begin[d], (zones & 2) | (s.zones[d] & 1)
            if end > s.end[d]:
                end, zones = s.end[d], (zones & 1) | (s.zones[d] & 2)
            if begin >= end:
                continue
        link = s.link[d]
        if mode == GHOST and n and out.parent[n - 1] == above and out.link[n - 1] == link:
            continue  # one is enough to say that something is there
        if n >= len(out.place):
            return -1
        out.place[n], out.parent[n], out.link[n] = f, above, link
        out.begin[n], out.end[n], out.zones[n], out.state[n] = begin, end, zones, mode
        n += 1
        owner = np.int64(a.code[f])
        if owner >= owners or a.attached_first[owner] == a.attached_first[owner + 1]:
            owner = np.int64(-1)
        if mode == GHOST or (a.first[f] == a.first[f + 1] and owner < 0):
            continue
        if d + 1 == len(s.instance):
            s = _Stack(
                _deeper(s.instance), _deeper(s.link), _deeper(s.last_link), _deeper(s.owner),
                _deeper(s.version), _deeper(s.last_version), _deeper(s.begin), _deeper(s.end),
                _deeper(s.zones),
            )  # fmt: skip
        d += 1
        s.instance[d], s.link[d], s.last_link[d] = n - 1, a.first[f] - 1, a.first[f + 1]
        s.version[d], s.last_version[d], s.owner[d] = 0, 0, owner
        if types[tag] == TEMPORAL:  # where only the latest counts this is all of time
            s.begin[d], s.end[d], s.zones[d] = begin, end, zones
        elif types[tag] == EVENT:  # what happened once does not end what follows from it
            s.begin[d], s.end[d], s.zones[d] = _START, _NOW, 0
        else:
            s.begin[d], s.end[d], s.zones[d] = s.begin[d - 1], s.end[d - 1], s.zones[d - 1]
    return n
