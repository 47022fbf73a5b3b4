"""What an expression reads from around it, in the keys of frames, and whether once is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xstreamcast.algebra.analysis.free import facts
from xstreamcast.evaluate.frame import ITEM, LAST, POSITION, Key

if TYPE_CHECKING:
    from xstreamcast.algebra.plan import Plan


class Reads(NamedTuple):
    """`keys`: variables and parts of the focus; `shared`: all evaluations with equal keys agree."""

    keys: frozenset[Key]
    shared: bool


class ReadBook:
    """What the expressions of one program read, computed on first use.

    The program outlives the book, so a node is known by its identity.
    """

    def __init__(self) -> None:
        self._known: dict[int, Reads] = {}

    def of(self, plan: Plan) -> Reads:
        """What one expression reads."""
        known = self._known.get(id(plan))
        if known is None:
            known = self._known[id(plan)] = _reads(plan)
        return known


def _reads(plan: Plan) -> Reads:
    found = facts(plan)
    keys: set[Key] = {variable.number for variable in found.free}
    keys |= {ITEM} if found.focus else set()
    keys |= {POSITION} if found.position else set()
    keys |= {LAST} if found.last else set()
    return Reads(frozenset(keys), found.pure and not found.makes_nodes)
