"""Whether fragments fit their tag structure: each gets a reason why not, or none."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from xstreamcast.edges.wire.scanned import NOT_ONE, Scanned
from xstreamcast.edges.wire.words import MEANING, NOTHING, REMOVE, Words
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.structure import Tag, TagStructure
from xstreamcast.tape.fragments.fragment_kernels import (
    ABSENT,
    NESTED,
    NO_PAYLOAD,
    NOT_A_NUMBER,
    SEVERAL,
    STRAY_TEXT,
)
from xstreamcast.tape.layout import I32, I64, Bools
from xstreamcast.tape.node import Node

# Reasons, as the numbers of the codes XSCF….
FITS: Final = 0
NO_ID, UNKNOWN_TAG, OTHER_ROOT, PAYLOAD, NO_TIME, CYCLE, HOLE, EMBEDDED = range(2, 10)
NO_STRUCTURE, ENDED, NO_FRAGMENT = 10, 11, 12

ROOT: Final = "0"  # the id of the root
Reasons = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class KnownTags:
    """A tag structure in arrays, in the order of tag ids; the last place represents all others."""

    structure: TagStructure
    ids: I32
    key: I32
    travels: Bools
    tag_of: dict[int, int]  # key of a name → its tag, where there is only one

    @staticmethod
    def of(structure: TagStructure, words: Words) -> KnownTags:
        ids, room = np.array(sorted(structure.tags), np.int32), len(structure.tags) + 1
        key, travels = np.full(room, -1, np.int32), np.zeros(room, np.bool_)
        tag_of: dict[int, int] = {}
        for place, tsid in enumerate(ids.tolist()):
            tag = structure.tags[tsid]
            key[place] = words.key(tag.uri, tag.local)
            travels[place] = structure.travels(tsid)
            tag_of[int(key[place])] = -1 if int(key[place]) in tag_of else tsid
        return KnownTags(structure, ids, key, travels, tag_of)

    def places(self, tsids: I32) -> I64:
        """The place of each id; the last where there is no such tag."""
        last = len(self.ids)
        at = np.searchsorted(self.ids, tsids)
        there = self.ids[np.minimum(at, last - 1)] == tsids
        return np.where(there, at, last)


def reasons(found: Scanned, known: KnownTags, words: Words, ids: Ids) -> Reasons:
    """Why each unit does not fit, FITS where it does; gives tags to those that name none."""
    units = found.units
    meant = units.word & MEANING
    removes = meant == REMOVE
    _give_tags(found, known, words, ids)
    places = known.places(units.tsid)
    roots = words.keys[found.tape.columns.name[np.maximum(units.payload, 0)]]
    why = np.zeros(len(found), np.uint8)
    why[~known.travels[places] & ~removes] = EMBEDDED
    why[(roots != known.key[places]) & ~removes] = OTHER_ROOT
    why[(units.fault > 0) & ~removes] = PAYLOAD
    why[(known.key[places] < 0) & ~(removes & (units.tsid == ABSENT))] = UNKNOWN_TAG
    timed = (found.said, found.to_said, found.message_said)
    why[np.logical_or.reduce([said == NOT_ONE for said in timed])] = NO_TIME
    why[units.version == NOT_A_NUMBER] = NO_TIME
    why[found.id < 0] = NO_ID
    why[(meant == NOTHING) & (why > 0)] = NO_FRAGMENT
    if len(found.hole_id):
        _check_holes(found, known, why, ids)
    attached = (found.within >= 0) & (why == FITS)
    if attached.any():
        own = (found.within == found.id) | (found.id == ids.code(ROOT))
        why[attached & own] = CYCLE
    return why


def may_fit_later(found: Scanned, known: KnownTags, why: Reasons) -> Bools:
    """Which units lack nothing but a tag that the structure may still get."""
    waits: Bools = (why == UNKNOWN_TAG) & (found.units.tsid >= 0)
    holes = found.holes
    unknown = (known.key[known.places(holes.tsid)] < 0) & (holes.tsid >= 0) & (found.hole_id >= 0)
    waits[holes.unit[unknown & (why[holes.unit] == HOLE)]] = True
    return waits


def _give_tags(found: Scanned, known: KnownTags, words: Words, ids: Ids) -> None:
    """A bare payload is the root's filler; a tag that is not named is the only one of its name."""
    units = found.units
    for unit in np.flatnonzero(units.tsid == ABSENT).tolist():
        if units.word[unit] == NOTHING:
            found.id[unit], units.tsid[unit] = ids.code(ROOT), known.structure.root
        elif units.payload[unit] >= 0:
            name = int(found.tape.columns.name[units.payload[unit]])
            units.tsid[unit] = known.tag_of.get(int(words.keys[name]), ABSENT)


def _check_holes(found: Scanned, known: KnownTags, why: Reasons, ids: Ids) -> None:
    """Whether holes are for tags that travel, and none is for what contains it, or for the root.

    What contains itself through others is left out of the view while it does: that depends on
    lifespans, which later arrivals may change.
    """
    holes = found.holes
    places = known.places(holes.tsid)
    unknown = (known.key[places] < 0) & (holes.tsid != ABSENT)
    bad = (found.hole_id < 0) | unknown | (~known.travels[places] & ~unknown & (holes.tsid >= 0))
    hurt = holes.unit[bad]
    why[hurt[why[hurt] == FITS]] = HOLE
    own = (found.hole_id == found.id[holes.unit]) | (found.hole_id == ids.code(ROOT))
    own &= why[holes.unit] == FITS
    why[holes.unit[own]] = CYCLE


def sentence(
    found: Scanned, unit: int, reason: int, known: KnownTags | None, ids: Ids
) -> str | None:
    """What is wrong with a unit, in words; None: the code's own sentence says it."""
    units, tape = found.units, found.tape
    tsid = int(units.tsid[unit])
    tag = known.structure.tags.get(tsid) if known else None
    match reason:
        case 3:
            return f"tsid must be the id of a tag; got {'none' if tsid == ABSENT else tsid}"
        case 4 if tag is not None:
            return _other_root(tsid, tag, tape[int(units.payload[unit])])
        case 6 if units.version[unit] == NOT_A_NUMBER:
            return "a version must be a whole number"
        case 5:
            got = _PAYLOADS.get(int(units.fault[unit]), "another")
            return f"a fragment must have one element as its payload; got {got}"
        case 7 if found.id[unit] == ids.code(ROOT) and found.within[unit] >= 0:
            return f"id {ROOT} is that of the root, which must not be inside another fragment"
        case 7:
            return f"a fragment must not contain itself; {ids.text(int(found.id[unit]))} does"
        case 9 if tag is not None:
            return f"elements {tag.name} (tag {tsid}) are embedded in their parents; got a fragment"
        case 12:
            got = tape[int(units.row[unit])].name
            return f"a fragment must be a filler or another word of the stream; got {got}"
        case _:
            return None


_PAYLOADS: Final = {
    NO_PAYLOAD: "none",
    SEVERAL: "several",
    STRAY_TEXT: "text outside of it",
    NESTED: "a fragment inside it",
}


def _other_root(tsid: int, tag: Tag, root: Node) -> str:
    """The name may be the right one in another namespace."""
    if root.name.rpartition(":")[2] == tag.local:
        wanted, got = (f"namespace {uri}" if uri else "no namespace" for uri in (tag.uri, root.uri))
        return f"the payload of tag {tsid} must be an element {tag.local} in {wanted}; got {got}"
    return f"the payload of tag {tsid} must be an element {tag.name}; got {root.name}"
