"""How many rows each structure of a running query holds: entries of dictionaries, lists and arrays.

What a structure is called: the class that owns it, and the attribute. All that is reachable counts,
so that nothing can grow without a test seeing it.
"""

from __future__ import annotations

import types
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

_PLAIN = (str, bytes, int, float, complex, type(None))
_CODE = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)


def kept_rows(*roots: object) -> Counter[str]:
    """Rows by structure."""
    found: Counter[str] = Counter()
    seen: dict[int, object] = {}  # what was seen must stay, or another object has its id
    todo: list[tuple[object, str]] = [(root, type(root).__name__) for root in roots]
    while todo:
        one, where = todo.pop()
        if isinstance(one, (*_PLAIN, *_CODE)) or id(one) in seen:
            continue
        seen[id(one)] = one
        found[where] += _rows(one)
        todo += _inside(one, where)
    return found


def _rows(one: object) -> int:
    if isinstance(one, np.ndarray):
        return int(one.shape[0]) if one.ndim and one.base is None else 0
    return len(one) if isinstance(one, dict | list | set | frozenset | deque | bytearray) else 0


def _inside(one: object, where: str) -> Iterator[tuple[object, str]]:
    if isinstance(one, np.ndarray):
        if one.base is not None:
            yield one.base, where
        if one.dtype == object:
            yield from ((item, where) for item in one.ravel().tolist())
    elif isinstance(one, dict):
        for key, value in list(one.items()):
            yield key, where
            yield value, where
    elif isinstance(one, list | tuple | set | frozenset | deque):
        yield from ((item, where) for item in list(one))
    elif type(one).__module__.startswith(("xstreamcast", "bench", "tests")):
        name = type(one).__name__
        yield from ((value, f"{name}.{key}") for key, value in _attributes(one).items())


def _attributes(one: object) -> Mapping[str, Any]:
    found = dict(getattr(one, "__dict__", {}))
    for kind in type(one).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(one, name):
                found[name] = getattr(one, name)
    return found
