"""How a loop over arrays is compiled: at its first call, kept on disk, without the lock.

numba is imported by the first call and not before: a query that touches no document, and a command
that only prints its help, do without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import update_wrapper
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = {"nogil": True, "error_model": "numpy"}


def kernel(function: F) -> F:
    """`function`, compiled at its first call and cached beside its source."""
    return cast(F, Kernel(cast(FunctionType, function), _cached))


def part(function: F) -> F:
    """`function`, taken into each kernel that calls it: no counting of references at the border."""
    return cast(F, Kernel(cast(FunctionType, function), _inlined))


def written_out(function: F) -> Any:
    """Instructions that `function` writes: its first parameter is numba's, the others are types."""
    return Kernel(cast(FunctionType, function), _intrinsic)


class Kernel:
    """A function that is given to numba when it is first needed."""

    def __init__(self, function: FunctionType, make: Callable[[FunctionType], Any]) -> None:
        self._function, self._make = function, make
        self._made: Any = None
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        return (self._made or self.made())(*arguments)

    def made(self) -> Any:
        """What numba makes of it. In the end its callees stand in its globals as numba's too."""
        if self._made is None:
            self._made = self._make(self._function)  # before its callees: it may call itself
            known = self._function.__globals__
            for name in _names(self._function.__code__):
                if isinstance(callee := known.get(name), Kernel):
                    known[name] = callee.made()
        return self._made


def _cached(function: FunctionType) -> Any:
    from xstreamcast.kernels.kernel_cache import cached

    return cached(function, **_OPTIONS)


def _inlined(function: FunctionType) -> Any:
    from numba import njit

    return njit(inline="always", error_model="numpy")(function)


def _intrinsic(function: FunctionType) -> Any:
    from numba.extending import intrinsic

    return intrinsic(function)


def _names(code: CodeType) -> Iterator[str]:
    """The global names that compiled Python code may use, those of functions inside it included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
