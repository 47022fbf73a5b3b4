"""xstreamcast refused: what a table's quarantine holds, each with its reason, as it came."""

from __future__ import annotations

import sys

from xstreamcast.cli.arguments import Parsed, Parser


def add_arguments(parser: Parser) -> None:
    """What the command understands."""
    parser.add_argument("table", metavar="TABLE", help="the folder of the table")
    parser.add_argument("--stream", metavar="NAME", help="only this stream")
    parser.add_argument("--count", action="store_true", help="print only the number of each code")


def main(arguments: Parsed) -> int:
    """Write them one after another: corrected, they may be sent again."""
    from collections import Counter

    from xstreamcast.edges.quarantine import entry
    from xstreamcast.edges.table.log import Log
    from xstreamcast.edges.table.reading import refused, stream_of

    log = Log(arguments.table)
    state = log.needed()
    wanted = arguments.stream and stream_of(state, arguments.stream, arguments.table)
    streams = [wanted] if wanted else sorted(state.streams)
    found = [one for name in streams for one in refused(log, name)]
    if arguments.count:
        counted = Counter((one.stream, one.code, one.reason) for one in found)
        for (stream, code, reason), count in counted.most_common():
            sys.stdout.write(f"{count} {code} {stream}: {reason}\n")
    else:
        for one in found:
            sys.stdout.buffer.write(entry(one))
    sys.stderr.write(f"{len(found)} refused\n")
    return 0
