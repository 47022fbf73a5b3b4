"""How long a command takes to begin, in processor time: what a user pays at every call.

Beside it what nothing can go below: Python itself, and Python with numpy.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

DOCUMENT: Final = "<feed><b>1</b><b>2</b></feed>"
FRAGMENTS: Final = """<stream:structure xmlns:stream="urn:xstreamcast:stream">
<tag id="1" name="accounts" type="snapshot"><tag id="2" name="limit" type="temporal"/></tag>
</stream:structure>
<stream:filler xmlns:stream="urn:xstreamcast:stream" id="0" tsid="1" validTime="2003-01-01">
<accounts><stream:hole id="8" tsid="2"/></accounts></stream:filler>
<stream:filler xmlns:stream="urn:xstreamcast:stream" id="8" tsid="2" validTime="2003-02-01">
<limit>2000</limit></stream:filler>
"""


@dataclass(frozen=True, slots=True)
class Start:
    """A command, and the processor seconds it may take."""

    title: str
    words: tuple[str, ...]
    limit: float | None = None


def starts(folder: Path) -> list[Start]:
    """What is measured, over files in `folder`."""
    document, fragments = folder / "feed.xml", folder / "credit.xml"
    document.write_text(DOCUMENT)
    fragments.write_text(FRAGMENTS)
    ours = (sys.executable, "-m", "xstreamcast")
    current = 'for $l in stream("credit")//limit?[now] return $l'
    return [
        Start("python", (sys.executable, "-c", "pass")),
        Start("python with numpy", (sys.executable, "-c", "import numpy")),
        Start("--help", (*ours, "--help"), 0.1),
        Start("run --help", (*ours, "run", "--help"), 0.1),
        Start("run, no input", (*ours, "run", "-q", "1 + 1"), 0.4),
        Start("run, a document", (*ours, "run", "-q", "sum(//b)", "-i", str(document)), 0.4),
        Start(
            "watch, to the first change",
            (*ours, "watch", "-q", current, "-i", f"credit={fragments}", "--limit", "1"),
            0.6,
        ),
    ]


def processor_seconds(words: Sequence[str]) -> float:
    """What one process takes of the processors, from beginning to end."""
    # as the installed command has it: see cli.entry
    environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} failed: {done.stderr.decode()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def add_arguments(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument("--times", type=int, default=7, help="how often each is run (7)")


def main(args: argparse.Namespace) -> int:
    """Measure each in turn, several rounds; the median counts."""
    with tempfile.TemporaryDirectory() as folder:
        measured = starts(Path(folder))
        took: dict[str, list[float]] = {one.title: [] for one in measured}
        for _ in range(args.times + 1):
            for one in measured:
                took[one.title].append(processor_seconds(one.words))
    late = 0
    for one in measured:
        seconds = median(took[one.title][1:])  # the first of each warms the files
        limit = "" if one.limit is None else f"   at most {one.limit:.1f}"
        late += one.limit is not None and seconds > one.limit
        sys.stdout.write(f"{one.title:<28} {seconds:6.3f} s{limit}\n")
    return 1 if late else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    sys.exit(main(parser.parse_args()))
