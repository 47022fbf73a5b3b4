"""What a library of kernels must agree with: the sources, the processor, the layout of objects."""

from __future__ import annotations

import os
import sys
import sysconfig
from hashlib import blake2b
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "built"  # where libraries and manifests are
FORMAT = 1  # of the manifest, and of how a library is called

# The levels of each machine, best first: its name for LLVM, and what the processor must have.
_V3 = frozenset(("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"))
LEVELS: dict[str, dict[str, frozenset[str]]] = {
    "x86_64": {"x86-64-v3": _V3, "x86-64": frozenset()},
    "aarch64": {"generic": frozenset()},
}


def levels() -> list[str]:
    """The levels of this machine that its processor can run, best first; none where none fits."""
    if sys.platform != "linux" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return []
    known = LEVELS.get(os.uname().machine, {})
    flags = _flags() if any(known.values()) else frozenset[str]()
    return [level for level, needed in known.items() if needed <= flags]


def _flags() -> frozenset[str]:
    """What the first processor can do, as the system reports it."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            for line in lines:
                if line.startswith("flags"):
                    return frozenset(line.partition(":")[2].split())
    except OSError:  # hidden from us: the level that needs nothing is taken
        pass
    return frozenset()


def digest(path: Path) -> str:
    """What a file contains, in short."""
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()


def manifest_path(level: str, machine: str | None = None) -> Path:
    """Where the manifest of a level is; of this machine, unless another one is named."""
    return FOLDER / f"{machine or os.uname().machine}-{level}.json"
