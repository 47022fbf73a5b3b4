"""What folds keep: a number, or their members, from which the rest is made again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xstreamcast.operators.relational.folds.deferred import Deferred
from xstreamcast.operators.relational.folds.extreme import Extreme
from xstreamcast.operators.relational.folds.folds import Counted, Distinct, Summed, fold_state
from xstreamcast.operators.relational.folds.gathered import FoldState, Gathered, Member

if TYPE_CHECKING:
    from xstreamcast.circuit.nodes import Fold
    from xstreamcast.model.delta import Key
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter


def write_folds(to: TableWriter, name: str, states: Mapping[Key, FoldState]) -> None:
    """The folds of some outer rows."""
    counts = [one._count if isinstance(one, Counted) else 0 for one in states.values()]
    to.values(name, outer=list(states), count=counts)
    members = [(at, *one) for at, state in enumerate(states.values()) for one in _members(state)]
    ats, ranks, keys, cells = zip(*members, strict=True) if members else ((), (), (), ())
    to.values(f"{name}.members", fold=ats, rank=ranks, key=keys, cell=cells)


def _members(state: FoldState) -> list[Member]:
    match state:
        case Counted():
            return []
        case Gathered():
            return [(rank, key, state._cells[key]) for rank, key in state._order]
        case Summed() | Extreme() | Distinct() | Deferred():
            return state.members()
        case _:
            raise TypeError(f"no snapshot of {type(state).__name__}")


def read_folds(source: TableReader, name: str, fold: Fold) -> dict[Key, FoldState]:
    """The folds again."""
    outers, counts = source.values(name, "outer", "count")
    members: list[list[Member]] = [[] for _ in outers]
    columns = source.values(f"{name}.members", "fold", "rank", "key", "cell")
    for at, rank, key, cell in zip(*columns, strict=True):
        members[at].append((rank, key, cell))
    out: dict[Key, FoldState] = {}
    for outer, count, own in zip(outers, counts, members, strict=True):
        state = out[outer] = fold_state(fold)
        if isinstance(state, Counted):
            state._count = count
        else:
            state.update([], own)
    return out
