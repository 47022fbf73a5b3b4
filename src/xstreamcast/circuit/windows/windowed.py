"""Windows over the items of all units: the clause, what follows, and what going on needs."""

from __future__ import annotations

from dataclasses import dataclass

from xstreamcast.algebra import plan as p
from xstreamcast.circuit.windows.folds import WindowFold
from xstreamcast.circuit.windows.windowed_by import ByKey


@dataclass(frozen=True, slots=True)
class EndKey:
    """A comparison that every end of a window passes, so that ends can be looked up.

    right op left, or right - left op distance: `left` reads the start, `right` the end. `general`
    compares like = or <. `decides`: the comparison is the whole end condition.
    """

    left: p.Expression
    right: p.Expression
    op: p.CompareOp
    general: bool
    distance: p.Expression | None = None
    decides: bool = True


@dataclass(frozen=True, slots=True)
class Windowed:
    """A window clause whose items are those of all units, one after another.

    `before`: tuples of constants around it; `result`: what each window gives. `ahead`: how many
    further items must have come before what an item starts or ends is certain. `reads_items`: the
    result reads more of a window than its boundaries. `alone`: nothing is read around an item.
    """

    before: p.Tuples
    window: p.ForWindow
    result: p.Expression
    key: EndKey | None
    ahead: int
    reads_items: bool
    reads_start: bool  # the end condition depends on where the window starts
    alone: bool
    folds: tuple[WindowFold, ...] = ()  # what the result reads of items, if only folds
    folded: p.Expression | None = None  # the result over these
    by: ByKey | None = None  # windows for each value of a key

    @property
    def ends_with_items(self) -> bool:
        """Whether windows that are still open are answered as if the items had ended."""
        return self.window.kind != "general" and not self.window.only_end

    @property
    def folds_on(self) -> bool:
        """Whether values so far can take the place of the items of the one open window."""
        return bool(self.folds) and self.window.kind == "tumbling"

    @property
    def by_last(self) -> bool:
        """Whether windows are emitted in the order of their last items; tumbling ones need none."""
        return self.window.order == "last" and self.window.kind != "tumbling"

    @property
    def passes(self) -> bool:
        """Whether windows are emitted only if they end, and positions pass by where they could."""
        key, end = self.key, self.window.end
        if key is None or end is None or end.position is None or not self.window.only_end:
            return False
        return key.op in ("eq", "lt", "le") and key.right == p.Var(end.position)
