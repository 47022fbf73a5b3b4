"""Kept values of units, bound where the units are evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.circuit.unit_folds.fold import Inner
    from xstreamcast.operators.units.verdicts import Verdicts
    from xstreamcast.tape.layout import I64


@dataclass(frozen=True, slots=True, eq=False)
class BoundRows:
    """What is bound in units: rows of their elements, and of each inner part counts and values."""

    roots: Column
    found: tuple[tuple[Inner, Column, Column], ...]
    judged: tuple[Verdicts, I64] | None = None  # where verdicts are noted, and the units' places

    def bound(self, number: int, together: bool) -> dict[int | str, Column]:
        """The variables of a frame with a row for each unit, or one row for all."""
        nodes = Items.of_nodes((np.int64(number) << 32) | self.roots.items.values)
        out: dict[int | str, Column] = {}
        for inner, counts, values in self.found:
            columns = (self.roots.with_items(nodes), counts, values)
            for variable, column in zip((inner.roots, inner.counts, inner.values), columns,
                                        strict=True):  # fmt: skip
                out[variable.number] = _one_row(column) if together else column
        return out


def _one_row(column: Column) -> Column:
    return Column(column.items, np.array([0, len(column.items)], np.int64))
