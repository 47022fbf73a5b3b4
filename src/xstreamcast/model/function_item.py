"""A function as a value: what a function item column holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.model.column import Column
    from xstreamcast.model.sequence_type import SequenceType


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
    captured: Any = None
