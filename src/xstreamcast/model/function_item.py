"""A function as a value: what a function item column holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.model.column import Column, Ints
    from xstreamcast.model.sequence_type import SequenceType


@dataclass(frozen=True, slots=True, eq=False)
class Captured:
    """Where a closure was made. Those of one family are called together, each in its own row."""

    family: Any  # what its expression and frame are known by
    row: int
    together: Callable[[Ints], FunctionItem]  # rows of the frame → one function for all of them


class Remade(NamedTuple):
    """How a function is made again where another evaluation calls it: from what it captured.

    again(context of that evaluation, of, captured values there)  →  the function
    """

    again: Callable[[Any, Any, Sequence[Column]], FunctionItem]
    of: Any  # its expression or type
    captured: Callable[[], tuple[Column, ...]]  # each value in a column of one row


@dataclass(frozen=True, slots=True, eq=False)
class FunctionItem:
    """A function that can be called for a whole batch: body(call, *argument columns) → column.

    `call` is the dynamic context of the call (functions.call.Call). The body expects arguments
    already converted to `parameters`. A closure carries its captured values inside `body`, for the
    one row in which it was made.
    """

    name: tuple[str, str] | None  # (namespace, local); None for an inline function
    arity: int
    parameters: tuple[SequenceType, ...]
    result: SequenceType
    body: Callable[..., Column]
    captured: Captured | None = None
    needs_call: bool = True  # False: the body reads nothing of the dynamic context of the call
    # The body for a call of one row, of the arguments alone; a None that it gives is for `body`.
    alone: Callable[..., Column | None] | None = None
    remade: Remade | None = None  # None: it reads nothing of the evaluation that made it


def family_of(function: FunctionItem) -> Any:
    """What functions that are called together have in common."""
    return id(function) if function.captured is None else function.captured.family


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """The functions of some rows, of one family: one function, or closures of one expression."""

    first: FunctionItem
    rows: Ints | None  # where each was made; None: all rows have the first

    @staticmethod
    def of(functions: Sequence[FunctionItem]) -> Alike:
        """Functions of one family, one for each row."""
        first = functions[0]
        made = [one.captured.row for one in functions if one.captured is not None]
        if len(set(made)) < 2:
            return Alike(first, None)
        return Alike(first, np.array(made, np.int64))

    def at(self, rows: Ints) -> FunctionItem:
        """One function for a call with these rows, whichever they are and how often."""
        captured = self.first.captured
        if self.rows is None or captured is None:
            return self.first
        return captured.together(self.rows[rows])
