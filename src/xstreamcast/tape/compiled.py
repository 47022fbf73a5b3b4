"""How a loop over columns is compiled: once, kept on disk, without the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

from xstreamcast.tape.kernel_cache import stamped

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """`function`, compiled at its first call and cached beside its source."""
    return cast(F, stamped(njit(cache=True, nogil=True, error_model="numpy")(function)))


def part(function: F) -> F:
    """`function`, taken into each kernel that calls it: no counting of references at the border."""
    return cast(F, njit(inline="always", error_model="numpy")(function))


@part
def signed(value: int) -> int:
    """A value of a column as int64: unsigned and signed mixed would become a float."""
    return int(np.int64(value))
