"""What compiled functions point to is there until the process ends: they may go last."""

from __future__ import annotations

import subprocess
import sys

import pytest

from xstreamcast.kernels.ahead.loading import _library

SCRIPT = """
import os
from xstreamcast.kernels.ahead import loading

class Watched(loading._Definition):
    write = staticmethod(os.write)

    def __del__(self):
        self.write(1, b"freed ")

loading._Definition = Watched
import xstreamcast as xsc
print(*xsc.query("count(//a[@x > 3])").run(b'<r><a x="5"/></r>').lines(), flush=True)
"""


def test_nothing_is_freed_at_exit() -> None:
    if _library() is None:
        pytest.skip("no kernels were compiled ahead")
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True)
    assert done.stdout == b"1\n"
