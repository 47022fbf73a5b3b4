"""xstreamcast kernels: compile the kernels ahead, so that no query has to wait for it."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.cli.progress import progress
from xstreamcast.model.counted import counted

if TYPE_CHECKING:
    from xstreamcast.kernels.ahead.building import Built
    from xstreamcast.kernels.ahead.compiling import Target


def add_arguments(parser: Parser) -> None:
    """What the command understands."""
    parser.add_argument(
        "--every-level", action="store_true",
        help="for all processors of this architecture, as a wheel needs (default: this one)",
    )  # fmt: skip
    parser.add_argument(
        "--machine", metavar="NAME",
        help="for all processors of another architecture, x86_64 or aarch64 (default: this one)",
    )  # fmt: skip


def main(arguments: Parsed) -> int:
    """Compile what is new or has changed."""
    from xstreamcast.errors import error
    from xstreamcast.kernels.ahead.building import CannotBuildError, build, targets

    failed = 0
    try:
        for target in targets(arguments.every_level, arguments.machine):
            began = time.monotonic()
            with progress(f"compiling kernels for {_shown(target)}", patience=0.0) as shown:
                built = build(target, lambda done, of: shown.show(done, of, f"{done} of {of}"))
            failed += _report(built, time.monotonic() - began)
    except CannotBuildError as why:
        # everything works without them, only the first query waits
        sys.stderr.write(f"kernels are compiled when they are first used: {why}\n")
    except OSError as why:
        raise error("XSCU0004", f"{why.filename} cannot be written: {why.strerror}") from None
    return 1 if failed else 0


def _shown(target: Target) -> str:
    """A level, whose name may say for which machine it is."""
    return target.level if target.is_here else f"{target.machine} ({target.level})"


def _report(built: Built, seconds: float) -> int:
    """Say what was done; how many could not be."""
    if built.compiled:
        kernels = counted(built.compiled, "kernel")
        said = f"{kernels} compiled for {_shown(built.target)} in {seconds:.0f} s"
        sys.stderr.write(said + (f", {built.kept} were\n" if built.kept else "\n"))
    for one in built.problems:
        name = f"{one.kernel.module}.{one.kernel.name}"
        sys.stderr.write(f"{name} is compiled when it is first used: {one.problem}\n")
    return len(built.problems)
