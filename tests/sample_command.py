"""A command that fails in the way it is told to: every way out of the door is tested with it."""

from __future__ import annotations

import sys

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.errors import Source, error


def add_arguments(arguments: Parser) -> None:
    arguments.add_argument("how")
    arguments.add_argument("--times", type=int, default=1)


def main(args: Parsed) -> int:
    match args.how:
        case "interrupted":
            raise KeyboardInterrupt
        case "bug":
            return 1 // 0
        case "noisy bug":
            return 1 // (sys.stdout.write("some data") - 9)
        case "deep":
            return main(args)
        case "missing":
            return len(open("no/such/file").read())
        case "static":
            raise error("XPST0008", at=Source("q.xq", "1 + $x").place((4, 6)))
        case code if len(code) == 8:
            raise error(code)
    return int(args.times)
