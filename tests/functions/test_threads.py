"""The table of functions is whole for every thread, whichever is the first to need it."""

from __future__ import annotations

import subprocess
import sys

LOOKING = """
import threading
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN

together, found = threading.Barrier(8), []

def look():
    together.wait()
    found.append(lookup(FN, "data", 1) is not None and lookup(FN, "string-join", 2) is not None)

threads = [threading.Thread(target=look) for _ in range(8)]
for one in threads:
    one.start()
for one in threads:
    one.join()
print(found.count(True))
"""


def test_no_thread_sees_half_of_the_table() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOOKING], capture_output=True, text=True, timeout=120
    )  # a process of its own: here the table is whole already
    assert (done.stdout.strip(), done.stderr) == ("8", "")
