"""How a loop over arrays is compiled: once, kept on disk, without the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """`function`, compiled at its first call and cached beside its source."""
    return cast(F, njit(cache=True, nogil=True, error_model="numpy")(function))
