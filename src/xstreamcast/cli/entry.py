"""Where a command begins: all else is imported inside, so that Ctrl-C is heard from the start."""

from __future__ import annotations

import os
import sys


def entry() -> None:
    """What the commands `xstreamcast` and `xsc` call."""
    # numpy starts a thread for each processor, for algebra that nothing here does
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from xstreamcast.cli.main import main

        status = main(sys.argv[1:])
    except KeyboardInterrupt:  # while importing, or while an interruption was being reported
        os.write(2, b"interrupted\n")
        os._exit(130)
    sys.exit(status)
