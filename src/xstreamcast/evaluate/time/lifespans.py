"""When nodes live: what their attributes say, or what follows from their content."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from xstreamcast.errors import error
from xstreamcast.kernels.instants import ZONED, instants
from xstreamcast.model.column import distinct
from xstreamcast.model.instant import NOW, START, parse_instant
from xstreamcast.tape.fragments.lifespan_kernels import Lifespans, bounded, covers, say_words
from xstreamcast.tape.layout import NEEDS_DECODE

if TYPE_CHECKING:
    from xstreamcast.tape.layout import I64, U8, Bools, Tape
    from xstreamcast.tape.store import Store

_KNOWN: WeakKeyDictionary[Store, dict[int, Lifespans]] = WeakKeyDictionary()


class LifespanColumns(NamedTuple):
    """Lifespans in columns; bit 0 of `zones`: the begin has a time zone, bit 1: the end has."""

    begin: I64
    end: I64
    zones: U8


def bound_names(store: Store) -> tuple[int, int]:
    """The names of the attributes that say when an element lives."""
    return store.names.intern("", "vtFrom", ""), store.names.intern("", "vtTo", "")


def lifespans(store: Store, number: int) -> Lifespans:
    """The elements of a tape that say when they live; found once."""
    known = _KNOWN.setdefault(store, {})
    if number not in known:
        known[number] = _found(store.tape(number), *bound_names(store))
    return known[number]


def spans_of(store: Store, handles: I64) -> LifespanColumns:
    """The lifespan of every node."""
    out = LifespanColumns(
        np.empty(len(handles), np.int64),
        np.empty(len(handles), np.int64),
        np.empty(len(handles), np.uint8),
    )
    for number in distinct(handles >> 32).tolist():
        places = np.flatnonzero(handles >> 32 == number)
        begin, end = np.empty(len(places), np.int64), np.empty(len(places), np.int64)
        zones, rows = np.empty(len(places), np.uint8), handles[places] & 0xFFFFFFFF
        covers(store.tape(number).columns, rows, lifespans(store, number), begin, end, zones)
        out.begin[places], out.end[places], out.zones[places] = begin, end, zones
    return out


def has_lifespan(store: Store, handles: I64) -> Bools:
    """Whether each node has a lifespan of its own."""
    out = np.zeros(len(handles), np.bool_)
    for number in distinct(handles >> 32).tolist():
        places = np.flatnonzero(handles >> 32 == number)
        out[places] = np.isin(handles[places] & 0xFFFFFFFF, lifespans(store, number).row)
    return out


def _found(tape: Tape, vt_from: int, vt_to: int) -> Lifespans:
    rows, begins, ends = bounded(tape.columns, vt_from, vt_to)
    begin, begin_zone = _values(tape, begins)
    end, end_zone = _values(tape, ends)
    return Lifespans(rows, begin, end, begin_zone | end_zone << np.uint8(1))


def _values(tape: Tape, rows: I64) -> tuple[I64, U8]:
    """The instants that attributes say, and whether each has a time zone."""
    c = tape.columns
    start, length = c.start[rows], c.length[rows]
    out, said = np.empty(len(rows), np.int64), np.empty(len(rows), np.int8)
    instants(c.heap, start, length, out, said)
    say_words(c.heap, start, length.astype(np.int64), out, said)
    unsure = (said < 0) | (c.kind[rows] & NEEDS_DECODE != 0)
    for i in np.flatnonzero(unsure).tolist():
        out[i], said[i] = instant_of(tape[int(rows[i])].string)
    return out, (said & ZONED).astype(np.uint8)


def instant_of(text: str) -> tuple[int, int]:
    """(instant, 1 if it has a time zone) of a text: a dateTime, a date, `now` or `start`."""
    short = text.strip()
    if short in ("now", "start"):
        return (NOW if short == "now" else START), 0
    found = parse_instant(short)
    if found is None:
        raise error("FORG0001", f"an instant must be a dateTime, now or start; got {text!r}")
    return found[0], int(found[1])


__all__ = ["LifespanColumns", "bound_names", "has_lifespan", "instant_of", "lifespans", "spans_of"]
