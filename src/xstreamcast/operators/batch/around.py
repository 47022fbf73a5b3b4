"""Elements around the units of a document, counted by identity though ranges share them.

A range reports what it finds for each element that may have been found before it: of those that are
open before it only the outermost counts, for all that is below the others is below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.evaluate.nodes.node_tests import node_test
from xstreamcast.model.items import Items
from xstreamcast.operators.batch.sending import decoded, encoded
from xstreamcast.operators.relational.folds.folds import counted
from xstreamcast.tape.layout import ELEMENT, KIND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xstreamcast.circuit.batch.parts import BatchPart
    from xstreamcast.evaluate.context import Context
    from xstreamcast.tape.store import Store

_ROW: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class OpenElements:
    """How many elements are open before a range and behind it."""

    before: int
    behind: int


@dataclass(frozen=True, slots=True)
class RangeCounts:
    """What a range found: which open elements, how many others, and how much below them.

    `below[k]`, `left[k]`: what counts, and what waits for each element that stays open, if the
    k-th open element is the outermost that was found before; the last is for none.
    """

    before: Any
    behind: Any
    others: int
    stay: int
    below: list[int]
    left: list[Any]


def sent_around(
    part: BatchPart, items: Items, context: Context, document: int, open_: OpenElements
) -> bytes:
    """What a range reports of the elements around its units."""
    number = document >> 32
    nodes = np.unique(items.values.astype(np.int64) & _ROW)
    columns = context.store.tape(number).columns
    rows = np.flatnonzero((columns.kind & KIND) == ELEMENT)
    before, behind = [0], [0]
    for level in range(1, open_.before + 1):
        before.append(int(rows[level - 1]))
    for level in range(1, open_.behind + 1):
        behind.append(int(rows[np.flatnonzero(columns.level[rows] == level)[-1]]))
    first, last = np.array(before, np.int64), np.array(behind, np.int64)
    both = min(len(first), len(last))
    stay = int(np.count_nonzero(first[:both] == last[:both]))
    known = np.isin(nodes, np.union1d(first, last))
    found = RangeCounts(
        np.isin(first, nodes), np.isin(last, nodes), int(np.count_nonzero(~known)), stay, [], []
    )
    if part.around is not None and part.around.below is not None:
        _below(part, context.store, number, nodes, first, last, found)
    return encoded(
        (
            found.before.tolist(), found.behind.tolist(), found.others, found.stay, found.below,
            [one.tolist() for one in found.left],
        )
    )  # fmt: skip


def _around(sent: bytes) -> RangeCounts:
    before, behind, others, stay, below, left = decoded(sent)
    return RangeCounts(
        np.array(before, np.bool_), np.array(behind, np.bool_), others, stay, list(below),
        [np.array(one, np.int64) for one in left],
    )  # fmt: skip


def _below(
    part: BatchPart,
    store: Store,
    number: int,
    nodes: Any,
    first: Any,
    last: Any,
    found: RangeCounts,
) -> None:
    assert part.around is not None
    assert part.around.below is not None
    test = node_test(part.around.below, "descendant")

    under = partial(rows_below, store, number, test)
    there = under(np.zeros(1, np.int64))
    for at in range(len(first) + 1):
        here = under(np.union1d(nodes, first[at : at + 1]))
        rest = np.setdiff1d(there, here, assume_unique=True)
        left = np.zeros(len(last), np.int64)
        np.add.at(left, np.searchsorted(last, rest) - 1, 1)
        found.below.append(len(here))
        found.left.append(left)


def rows_below(store: Store, number: int, test: Any, rows: Any) -> Any:
    """The rows of a tape that are below some rows and pass a test, each once."""
    if len(rows) == 0:
        return rows
    _, inner = store.step(rows | number << 32, "descendant", test)
    return np.unique(inner & _ROW)


def counted_elements(part: BatchPart, values: Sequence[bytes]) -> Items:
    """The number of different elements, or whether there are any, over ranges in their order."""
    total, found, waiting = 0, np.zeros(1, np.bool_), np.zeros(1, np.int64)
    for one in map(_around, values):
        marked = found | one.before
        if one.below:
            gained, waiting = _waited(one, found, marked, waiting)
            total += gained
        else:
            new = one.behind[one.stay :]  # those that were open before count by `before`
            total += one.others + int(np.count_nonzero(marked & ~found)) + int(new.sum())
        behind = one.behind.copy()
        behind[: one.stay] |= found[: one.stay]
        found = behind
    ((tag, value),) = counted(part.fold, total)
    return Items.of(tag, [value])


def _waited(one: RangeCounts, found: Any, marked: Any, waiting: Any) -> tuple[int, Any]:
    """What counts now of what waited and of what is new; and what waits from now on."""
    outermost = int(np.argmax(found)) if found.any() else len(found)
    counts = np.logical_or.accumulate(marked)
    gained = int(waiting[counts].sum()) + one.below[outermost]
    waiting = np.where(counts, 0, waiting)
    left = one.left[outermost].copy()
    left[: one.stay] += waiting[: one.stay]
    left[one.stay - 1] += waiting[one.stay :].sum()
    return gained, left
