"""Other keys of units: a removal may name a unit by any of them.

vehicle V1 (alias I7), removal of I7  →  V1 removed, in whatever order the two arrive
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from xstreamcast.edges.mapping.removals import removals
from xstreamcast.model.fragment import Op

if TYPE_CHECKING:
    from xstreamcast.model.fragment import FragmentBatch


class Named(NamedTuple):
    """The unit that last used an alias: its id and tag, and since when."""

    code: int
    tag: int
    valid: int


@dataclass(slots=True)
class Aliases:
    """What the units of one kind are known by beside their keys."""

    named: dict[int, Named] = field(default_factory=dict)  # by the code of the alias
    waiting: dict[int, set[int]] = field(default_factory=dict)  # removals that named nothing known

    def learn(self, made: FragmentBatch, given: list[tuple[int, int]]) -> list[Named]:
        """Note (row, alias) of a batch → the removals that came before the units they name."""
        early: list[Named] = []
        for row, alias in given:
            code, tag, valid = int(made.id[row]), int(made.tsid[row]), int(made.valid[row])
            if made.op[row] == Op.REMOVE or alias == code:
                continue
            known = self.named.get(alias)
            if known is None or known.valid <= valid:
                self.named[alias] = Named(code, tag, valid)
            early += [Named(code, tag, at) for at in sorted(self.waiting.pop(alias, ()))]
        return early

    def resolved(self, made: FragmentBatch, early: list[Named]) -> FragmentBatch:
        """The batch with removals of units that aliases name, the early ones behind it."""
        codes, tags = made.id.copy(), made.tsid.copy()
        for row in np.flatnonzero(made.op == Op.REMOVE).tolist():
            known = self.named.get(int(codes[row]))
            if known is None:
                self.waiting.setdefault(int(codes[row]), set()).add(int(made.valid[row]))
            else:
                codes[row], tags[row] = known.code, known.tag
        made = _once(replace(made, id=codes, tsid=tags))
        if not early:
            return made
        code, tag, valid = np.array(early, np.int64).T
        return removals(made, tag.astype(np.int32), code.astype(np.int32), valid)


def _once(made: FragmentBatch) -> FragmentBatch:
    """The batch with one removal of each unit and instant: its message may name it twice."""
    at = np.flatnonzero(made.op == Op.REMOVE)
    first = np.unique(np.stack((made.id[at], made.valid[at])), axis=1, return_index=True)[1]
    if len(first) == len(at):
        return made
    stays = np.ones(len(made), np.bool_)
    stays[np.delete(at, first)] = False
    return made.some(stays)
