"""What goes into a wheel next to the sources: the kernels that were compiled ahead here.

`make wheel` compiles them first, for this machine or for the one that `MACHINE` names. Without them
the wheel is the same on every machine, and kernels are compiled when they are first called.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src/xstreamcast/kernels/ahead/built")


class KernelsHook(BuildHookInterface[Any]):
    """Adds libraries and manifests, and says for which machine the wheel is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        machine = os.environ.get("XSC_WHEEL_MACHINE") or platform.machine()
        manifests = sorted((Path(self.root) / FOLDER).glob(f"{machine}-*.json"))
        if version == "editable" or not manifests or os.environ.get("XSC_WITHOUT_KERNELS"):
            return
        for path in (Path(self.root) / FOLDER).glob(f"{machine}-*.*"):
            inside = path.relative_to(Path(self.root) / "src")
            build_data["force_include"][str(path)] = str(inside)
        # nothing of the C library is linked in, and the interpreter's stable functions alone
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_system()}_{machine}"


def _system() -> str:
    return "manylinux_2_17" if sys.platform == "linux" else sys.platform
