"""Elements of the root fragment, counted by identity though every task has them.

Every task has the same root around other units, so that an element is known by its number there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.walk import descendants
from xstreamcast.evaluate.nodes.node_tests import node_test
from xstreamcast.model.items import Items
from xstreamcast.operators.batch.around import rows_below
from xstreamcast.operators.batch.sending import decoded, encoded
from xstreamcast.operators.kept_items import UnwrittenNode
from xstreamcast.operators.relational.folds.folds import counted
from xstreamcast.tape.fragments.instance_kernels import FULL
from xstreamcast.tape.layout import ELEMENT, KIND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xstreamcast.circuit.batch.parts import BatchPart
    from xstreamcast.evaluate.context import Context
    from xstreamcast.history.query import HistoryQuery
    from xstreamcast.history.view import View

_ROW: Final = 0xFFFFFFFF
_NONE: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class SpineCount:
    """What a task found: numbers of root elements, how many others, and what is below either.

    `own[e]`: matches below others, in units inside of element e; `rest[e]`: matches besides;
    `parent`: the element around each one of the root, -1 for the document; `hits`: which match.
    """

    found: Any
    others: int
    parent: Any
    own: Any
    rest: Any
    hits: Any


def sent_spine(
    part: BatchPart, items: Items, context: Context, query: HistoryQuery, name: str
) -> bytes:
    """What a task sends of nodes around its units."""
    if not _reads_whole(context, name):
        return no_spine()
    number = int(context.inputs.streams(name).values[0]) >> 32
    view = next((one.view for one in query.choice.shown(query.now) if one.number == number), None)
    handles = items.values.astype(np.int64)
    if view is None or (handles >> 32 != number).any():
        raise UnwrittenNode  # a copy: its root is not known
    tops, spine = _spine(view)
    nodes = np.unique(handles & _ROW)
    at = np.searchsorted(spine, nodes)
    around = spine[np.minimum(at, len(spine) - 1)] == nodes
    columns = view.tape.columns
    parent = np.searchsorted(spine, columns.parent[spine].astype(np.int64))
    parent[0] = -1
    found = SpineCount(at[around], int(np.count_nonzero(~around)), parent, _NONE, _NONE, _NONE)
    if part.around is not None and part.around.below is not None:
        found = _below(part, context, number, nodes[~around], columns, tops, spine, found)
    return _packed(found)


def _reads_whole(context: Context, name: str) -> bool:
    """Whether the stream is read from its root on: where its paths lead nowhere, it is not."""
    nodes = descendants(context.program.body)
    return any(isinstance(node, p.StreamInput) and node.name == name for node in nodes)


def _spine(view: View) -> tuple[Any, Any]:
    """Where units begin on the tape; the document and the elements of the root fragment."""
    found = view.instances
    first = (found.parent < 0) & (found.state == FULL)
    unit = (found.parent >= 0) & (found.state == FULL)
    unit[unit] = first[found.parent[unit]]
    columns, tops = view.tape.columns, view.row[unit]
    depth = np.zeros(len(columns.kind) + 1, np.int64)
    np.add.at(depth, tops, 1)
    np.add.at(depth, tops + columns.size[tops] + 1, -1)
    outside = np.cumsum(depth[:-1]) == 0
    elements = np.flatnonzero(outside & (columns.kind & KIND == ELEMENT))
    return tops, np.concatenate((np.zeros(1, np.int64), elements))


def _below(
    part: BatchPart, context: Context, number: int, inner: Any, columns: Any, tops: Any, spine: Any,
    found: SpineCount,
) -> SpineCount:  # fmt: skip
    assert part.around is not None
    assert part.around.below is not None
    test = node_test(part.around.below, "descendant")

    under = partial(rows_below, context.store, number, test)
    there = under(np.zeros(1, np.int64))
    among = np.isin(there, spine)
    hits = np.searchsorted(spine, there[among])
    there = there[~among]
    top = tops[np.searchsorted(tops, there, side="right") - 1]
    holder = np.searchsorted(spine, columns.parent[top].astype(np.int64))
    own = np.isin(there, under(inner))
    count = len(spine)
    return SpineCount(
        found.found, found.others, found.parent, np.bincount(holder[own], minlength=count),
        np.bincount(holder[~own], minlength=count), hits,
    )  # fmt: skip


def no_spine() -> bytes:
    """What a task sends that finds no nodes."""
    return _packed(SpineCount(_NONE, 0, _NONE, _NONE, _NONE, _NONE))


def spine_numbers(sent: bytes) -> list[int]:
    """The numbers of the root's elements that a task found."""
    return [int(one) for one in _unpacked(sent).found]


def counted_spine(part: BatchPart, values: Sequence[bytes]) -> Items:
    """The number of different nodes over all tasks, or whether there are any."""
    counts = [_unpacked(one) for one in values]
    found = np.unique(np.concatenate([_NONE, *(one.found for one in counts)]))
    if part.around is not None and part.around.below is None:
        total = len(found) + sum(one.others for one in counts)
    else:
        total = _covered(counts, found)
    ((tag, value),) = counted(part.fold, total)
    return Items.of(tag, [value])


def _covered(counts: Sequence[SpineCount], found: Any) -> int:
    """How much is below what was found: in the root, in units below it, in units alone."""
    if not counts:
        return 0
    parent = counts[0].parent.tolist()
    covered = np.zeros(len(parent), np.bool_)
    covered[found] = True
    for at, above in enumerate(parent):
        if above >= 0 and covered[above]:
            covered[at] = True
    hits = counts[0].hits
    total = int(np.count_nonzero(covered[counts[0].parent[hits]] & (counts[0].parent[hits] >= 0)))
    for one in counts:
        total += int(one.own.sum()) + int(one.rest[covered].sum())
    return total


def _packed(one: SpineCount) -> bytes:
    lists = (getattr(one, name).tolist() for name in ("found", "parent", "own", "rest", "hits"))
    return encoded((one.others, *lists))


def _unpacked(sent: bytes) -> SpineCount:
    others, found, parent, own, rest, hits = decoded(sent)
    lists = (np.array(one, np.int64) for one in (parent, own, rest, hits))
    return SpineCount(np.array(found, np.int64), others, *lists)
