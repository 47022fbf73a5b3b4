"""Columns that grow at their end by doubling: no object for a row, no copy for each batch."""

from __future__ import annotations

from typing import Any

import numpy as np


class NamedColumns:
    """Named arrays of one length."""

    __slots__ = ("_arrays", "_used")

    def __init__(self, **dtypes: Any) -> None:
        self._arrays = {name: np.empty(1024, dtype) for name, dtype in dtypes.items()}
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def __getitem__(self, name: str) -> Any:
        """The column as far as it is filled; a view that stays as it is while others grow."""
        return self._arrays[name][: self._used]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._arrays)

    def whole(self, name: str) -> Any:
        """The column with the room behind it, for a kernel that fills it."""
        return self._arrays[name]

    def make_room(self, more: int) -> None:
        """Room for so many further rows."""
        needed = self._used + more
        for name, array in self._arrays.items():
            if needed > len(array):
                larger = np.empty(max(needed, 2 * len(array)), array.dtype)
                larger[: self._used] = array[: self._used]
                self._arrays[name] = larger

    def append(self, **parts: Any) -> None:
        """Further rows; columns that are not named were filled already."""
        count = len(next(iter(parts.values())))
        self.make_room(count)
        for name, part in parts.items():
            self._arrays[name][self._used : self._used + count] = part
        self._used += count

    @property
    def nbytes(self) -> int:
        """Bytes of the filled part."""
        return sum(self._used * array.itemsize for array in self._arrays.values())
