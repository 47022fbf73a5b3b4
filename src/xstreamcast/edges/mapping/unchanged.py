"""Units without a valid time of their own: sent again unchanged, they are no new version.

8: a, 9: b, 10: b, 11: a  →  a from 8, b from 9, a from 11, in whatever order they came

What is said again is not kept. If another content comes late and from before it was said again, it
is temporary: what it hides returns when it was said again.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from xstreamcast.edges.mapping.removals import removals
from xstreamcast.model.fragment import ENDS_ZONED, TEMPORARY, FragmentBatch, Op
from xstreamcast.model.instant import NOW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xstreamcast.tape.layout import I64, Bools


_DIGEST: Final = 16  # bytes
_GONE: Final = b""  # in place of a digest
_AGAIN: Final = 64  # times at which an unchanged content was said again that are kept


class Said(NamedTuple):
    """What a message said of a unit."""

    valid: int
    digest: bytes
    kept: bool  # it is a version; else it was said again
    until: int  # where what it hides returns


@dataclass(frozen=True, slots=True)
class UnchangedEffect:
    """What a message changes: whether it is a version, until when it hides others, and which later
    version it takes the place of."""

    news: bool
    until: int = NOW
    instead: tuple[int, int] | None = None  # a removal from an instant to another


class Unchanged:
    """What each unit was said to have, in the order of valid times."""

    def __init__(self) -> None:
        self.last: dict[int, list[Said]] = {}

    def news(self, made: FragmentBatch, timeless: set[int]) -> FragmentBatch:
        """The fragments that say anything new; `timeless`: the ids of those without valid times."""
        news, until = np.ones(len(made), np.bool_), np.full(len(made), NOW)
        instead: list[tuple[int, int, int]] = []  # row, valid, to
        again = _superseded(made, timeless)
        for row, code, valid in self._rows(made, timeless):
            if row in again:
                news[row] = False
                continue
            removes = bool(made.op[row] == Op.REMOVE)
            if removes and made.to is not None and made.to[row] != NOW:
                continue  # what was true before returns
            digest = _GONE if removes else _digest(made, row)
            effect = what_it_changes(self.last.setdefault(code, []), valid, digest)
            news[row], until[row] = effect.news or removes, effect.until
            if removes and effect.until != NOW:  # and not none, as it was without what returns
                news[_empty(made, code, valid)] = False
            if effect.instead is not None:
                instead.append((row, *effect.instead))
        return _changed(made, news, until, instead)

    def _rows(self, made: FragmentBatch, timeless: set[int]) -> Iterator[tuple[int, int, int]]:
        """Row, id and valid time; last those of removals, which may hide what is said again."""
        codes, valids = made.id.tolist(), made.valid.tolist()
        for row in np.lexsort((made.valid, made.op == Op.REMOVE)).tolist():
            if codes[row] in timeless or codes[row] in self.last:
                yield row, codes[row], valids[row]


def _superseded(made: FragmentBatch, timeless: set[int]) -> set[int]:
    """Rows in place of which a later one of the same unit and instant counts: its message has the
    unit twice."""
    if made.version is not None and made.version.any():
        return set()
    last: dict[tuple[int, int], int] = {}
    out: set[int] = set()
    rows = zip(made.id.tolist(), made.valid.tolist(), (made.op != Op.REMOVE).tolist(), strict=True)
    for row, (code, valid, there) in enumerate(rows):
        if there and code in timeless:
            if (code, valid) in last:
                out.add(last[code, valid])
            last[code, valid] = row
    return out


def _digest(made: FragmentBatch, at: int) -> bytes:
    c, row = made.tape.columns, int(made.payload[at])
    first, size = int(c.start[row]), int(c.length[row])
    held = c.heap[first : first + size].tobytes() if size >= 0 else b""
    return blake2b(held or made.tape.serialize(row), digest_size=_DIGEST).digest()


def what_it_changes(known: list[Said], valid: int, digest: bytes) -> UnchangedEffect:
    """Note what was said → what it changes."""
    at = bisect_left(known, valid, key=_valid)
    there = at < len(known) and known[at].valid == valid
    if there and known[at].digest == digest:
        return UnchangedEffect(news=False)
    before = known[at - 1] if at else None
    later = known[at + there] if at + there < len(known) else None
    if before is not None and before.digest == digest and not (there and known[at].kept):
        _put(known, Said(valid, digest, False, before.until))
        return UnchangedEffect(news=False)
    until = NOW if before is None or before.until <= valid else before.until
    back = later is not None and not later.kept and later.digest == digest
    if before is not None and before.digest == _GONE and back and until == _valid_of(later):
        _put(known, before._replace(until=valid))  # it returns sooner
        _put(known, Said(valid, digest, False, NOW))
        return UnchangedEffect(False, NOW, (before.valid, valid))
    instead = None
    if later is not None and later.kept:
        until = min(until, later.until)
        instead = later if later.digest == digest else None
    elif later is not None and later.digest != digest:
        until = min(until, later.valid)
    _put(known, Said(valid, digest, True, until))
    if instead is None:
        return UnchangedEffect(True, until)
    _put(known, instead._replace(kept=False))
    return UnchangedEffect(True, until, (instead.valid, instead.valid - (instead.until == NOW)))


def _valid_of(one: Said | None) -> int | None:
    return None if one is None else one.valid


def _empty(made: FragmentBatch, code: int, valid: int) -> Bools:
    """The removals of a unit that end where they begin."""
    ends = np.full(len(made), NOW) if made.to is None else made.to
    found: Bools = (made.id == code) & (made.valid == valid) & (ends == valid)
    found &= made.op == Op.REMOVE
    return found


def _valid(one: Said) -> int:
    return one.valid


def _put(known: list[Said], one: Said) -> None:
    """Note what was said at an instant; of what was said again only the last times."""
    at = bisect_left(known, one.valid, key=_valid)
    known[at : at + (at < len(known) and known[at].valid == one.valid)] = [one]
    if len(known) > 2 * _AGAIN:
        early = [said for said in known[:-_AGAIN] if said.kept]
        known[:-_AGAIN] = early


def _changed(
    made: FragmentBatch, news: Bools, until: I64, instead: list[tuple[int, int, int]]
) -> FragmentBatch:
    """The batch without what is not new, and with what takes the place of versions."""
    if (until != NOW).any():
        own = np.full(len(made), NOW) if made.to is None else made.to
        flags = made.flags | np.where(until != NOW, np.uint8(TEMPORARY | ENDS_ZONED), np.uint8(0))
        made = replace(made, to=np.minimum(own, until), flags=flags)
    if instead:
        row, valid, to = np.array(instead, np.int64).T
        news = np.concatenate((news, np.ones(len(row), np.bool_)))
        made = removals(made, made.tsid[row], made.id[row], valid, to, version=0)
    return made if news.all() else made.some(news)
