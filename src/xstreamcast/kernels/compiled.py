"""How a loop over arrays is compiled: ahead where that was done, else at its first call.

A kernel is looked up in the library that was compiled ahead (`kernels/ahead`). What is not there,
or is called with arguments of another form, is compiled by numba and kept on disk. numba is
imported then and not before: most commands do without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import update_wrapper
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

known: dict[tuple[str, str], Kernel] = {}  # all that were defined, by module and name

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# Without numba's reference counts: the kernels make no arrays, their callers keep them alive, and
# the counts of thirty arrays at every call would cost more than the work.
_BARE = {**_OPTIONS, "_nrt": False}


def kernel(function: F) -> F:
    """`function`, compiled once and kept; Python and other kernels call it."""
    return cast(F, Kernel(cast(FunctionType, function), _cached, _OPTIONS))


def part(function: F) -> F:
    """`function`, taken into each kernel that calls it: no counting of references at the border."""
    options = {"inline": "always", "error_model": "numpy"}
    return cast(F, Kernel(cast(FunctionType, function), _within, options))


def bare_kernel(function: Callable[..., Any]) -> Any:
    """A kernel without reference counts, with all that it calls; Python calls it."""
    return Kernel(cast(FunctionType, function), _cached, _BARE)


def bare_inlined(function: Callable[..., Any]) -> Any:
    """`function`, compiled into each bare kernel that calls it."""
    return Kernel(cast(FunctionType, function), _within, {**_BARE, "forceinline": True})


def bare_helper(function: Callable[..., Any]) -> Any:
    """`function`, compiled once within a bare kernel and called there: for what is rare."""
    return Kernel(cast(FunctionType, function), _within, _BARE)


def written_out(function: F) -> Any:
    """Instructions that `function` writes: its first parameter is numba's, the others are types."""
    return Kernel(cast(FunctionType, function), _intrinsic, {})


class Kernel:
    """A function that is compiled; numba sees it only when no library holds it."""

    def __init__(
        self, function: FunctionType, make: Callable[..., Any], options: dict[str, Any]
    ) -> None:
        self.function, self._make, self._options = function, make, options
        self._made: Any = None
        self._ahead: Any = None  # from the library; `missing` where there is none
        update_wrapper(self, function)
        known[function.__module__, function.__name__] = self

    def __call__(self, *arguments: Any) -> Any:
        answer = (self._ahead or self._found())(*arguments)
        if answer is NotImplemented:  # arguments of a form that was not compiled ahead
            return (self._made or self._missed(arguments))(*arguments)
        return answer

    @property
    def is_whole(self) -> bool:
        """Whether it is compiled for itself, so that Python can call it."""
        return self._make is _cached

    def made(self) -> Any:
        """What numba makes of it. In the end its callees are in its globals as numba's too."""
        if self._made is None:
            # before its callees: it may call itself
            self._made = self._make(self.function, self._options)
            names = self.function.__globals__
            for name in _names(self.function.__code__):
                if isinstance(callee := names.get(name), Kernel):
                    names[name] = callee.made()
        return self._made

    def _missed(self, arguments: tuple[Any, ...]) -> Any:
        """What numba makes of it, unless nothing may come from there (a mode for tests)."""
        if os.environ.get("XSC_KERNELS") == "ahead":
            from xstreamcast.kernels.ahead.loading import described

            name = f"{self.function.__module__}.{self.function.__name__}"
            raise TypeError(f"{name} was not compiled ahead for {described(arguments)}")
        return self.made()

    def _found(self) -> Any:
        """The compiled function in the library, or one that always leaves the work to numba."""
        from xstreamcast.kernels.ahead.loading import compiled_ahead

        self._ahead = (compiled_ahead(self.function) if self.is_whole else None) or missing
        return self._ahead


def missing(*arguments: object) -> Any:
    """Represents a kernel that no library holds."""
    return NotImplemented


def _cached(function: FunctionType, options: dict[str, Any]) -> Any:
    from xstreamcast.kernels.kernel_cache import cached

    return cached(function, **options)


def _within(function: FunctionType, options: dict[str, Any]) -> Any:
    from numba import njit

    return njit(**options)(function)


def _intrinsic(function: FunctionType, _options: dict[str, Any]) -> Any:
    from numba.extending import intrinsic

    return intrinsic(function)


def _names(code: CodeType) -> Iterator[str]:
    """The global names that compiled Python code may use, those of functions inside it included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
