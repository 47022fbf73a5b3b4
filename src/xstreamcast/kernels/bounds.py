"""Kernels that look before they read or write: a mode for tests, `XSC_BOUNDSCHECK=1`.

A kernel that writes past the end of its arrays destroys what others keep there, and the process
ends much later, if at all. In this mode it raises IndexError at once; a negative index, which numba
counts from the end, is an error too: no kernel means it that way.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from numba import config, types
from numba.np import arrayobj


def check_bounds(beside: Path) -> None:
    """Let every kernel that is made from now on check its indexes, if the mode is on."""
    if os.environ.get("XSC_BOUNDSCHECK") != "1":
        return
    config.BOUNDSCHECK = 1  # type: ignore[attr-defined]
    # numba's cache does not tell a kernel that checks from one that does not
    folder = Path(config.CACHE_DIR or beside / "__pycache__")  # type: ignore[attr-defined]
    config.CACHE_DIR = str(folder / "checked")  # type: ignore[attr-defined]
    arrayobj.fix_integer_index = _as_it_is


def _as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """An index that is not counted from the end: below 0 it is out of bounds."""
    return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)
