"""Where a command begins: all else is imported inside, so that Ctrl-C is heard from the start."""

from __future__ import annotations

import os
import sys


def entry() -> None:
    """What the commands `xstreamcast` and `xsc` call."""
    try:
        # numpy starts a thread for each processor, for algebra that nothing here does
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        open_closed_streams()
        from xstreamcast.cli.main import main

        status = main(sys.argv[1:])
    except KeyboardInterrupt:  # while importing, or while an interruption was being reported
        os.write(2, b"interrupted\n")
        os._exit(130)
    sys.exit(status)


def open_closed_streams() -> None:
    """Streams that a shell closed (`>&-`): input has ended, output fails when it is written.

    Else the first file that a command opens takes their number.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
