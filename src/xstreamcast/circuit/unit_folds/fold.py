"""Paths inside a unit whose items are kept by what is in the unit's holes.

for $a in units … f($a/c/rest)  →  f over what each c gave when it was last looked at
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.timing import Timing

Keeps = Literal["numbers", "values", "counts"]


@dataclass(frozen=True, slots=True)
class Inner:
    """`expression` over `child`, a fragment of one of `tags` in a hole of a unit of tag `unit`.

    Kept of each: its values, numbers where untyped ones are read as such, or how many items it
    gave. `roots`, `counts` and `values` are bound in each unit: its elements, how many values
    each has, and all of these in document order.
    """

    unit: int
    tags: frozenset[int]
    child: p.Variable
    expression: p.Expression
    keeps: Keeps
    roots: p.Variable
    counts: p.Variable
    values: p.Variable
    clock: bool = False
    timing: Timing | None = None  # where the clock matters
    shown: str = ""  # as it was written
    back: int | None = None  # what ended longer than this before now gives nothing any more


@dataclass(frozen=True, slots=True)
class UnitExpression:
    """An expression over the document of a unit, and the folds that are kept for it.

    `clock`: it reads the clock, and `timing` says when its value may change though nothing comes.
    """

    document: p.Variable
    input: str | None
    expression: p.Expression
    clock: bool = False
    timing: Timing | None = None
    inner: tuple[Inner, ...] = ()
