"""xstreamcast fragment: cut a document into fragments, or join fragments to a document."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import BinaryIO

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.cli.progress import work_shown
from xstreamcast.errors import error
from xstreamcast.model.counted import counted


def add_arguments(parser: Parser) -> None:
    """What the command understands."""
    parser.add_argument("file", metavar="DOC", help="a document, or with --join fragments")
    parser.add_argument("-s", "--structure", metavar="TS", help="the tag structure, in a file")
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="write to this file instead of stdout"
    )
    parser.add_argument(
        "--valid-time", metavar="PATH|INSTANT",
        help="when fragments are valid from: an instant, or a path from each such as sold/@at",
    )  # fmt: skip
    parser.add_argument(
        "--shuffle", type=int, metavar="SEED", help="write them in a random order, held in memory"
    )
    parser.add_argument(
        "--on-error", choices=("quarantine", "stop"), default="quarantine",
        help="with --join: what to do with an invalid fragment (default: quarantine)",
    )  # fmt: skip
    parser.add_argument(
        "--quarantine",
        metavar="FILE",
        help="file for refused fragments (default: NAME.refused.xml)",
    )
    parser.add_argument("--join", action="store_true", help="join fragments to a document")


def main(arguments: Parsed) -> int:
    """Cut or join."""
    if arguments.join:
        return _join(arguments)
    if arguments.structure is None:
        raise error(
            "XSCU0001",
            "cutting a document needs a tag structure: --structure TS",
            hint=f"xstreamcast infer {arguments.file} -o TS proposes one",
        )
    return _cut(arguments)


def _shown(arguments: Parsed) -> AbstractContextManager[None]:
    """Progress, unless fragments appear on the same terminal."""
    return nullcontext() if arguments.output is None and sys.stdout.isatty() else work_shown()


def _cut(arguments: Parsed) -> int:
    from xstreamcast.edges.cutting import cut
    from xstreamcast.edges.inputs import announce, chunks, paths
    from xstreamcast.edges.structures import read_structure
    from xstreamcast.edges.valid_time import valid_time
    from xstreamcast.edges.wire.encoder import CLOSE, EOS, OPEN, structure_line

    structure = read_structure(arguments.structure)
    valid = valid_time(arguments.valid_time) if arguments.valid_time else None
    (path,) = paths(arguments.file) if arguments.file == "-" else [arguments.file]
    announce([path])
    lines: Iterable[bytes] = cut(chunks(path), structure, valid=valid, name=path)
    count = untimed = 0
    with output(arguments.output) as out, _shown(arguments):
        if arguments.shuffle is not None:
            lines = list(lines)
            random.Random(arguments.shuffle).shuffle(lines)
        out.write(OPEN + structure_line(structure))
        for line in lines:
            out.write(line)
            count += 1
            untimed += valid is not None and b" validTime=" not in line[: line.index(b">")]
        out.write(EOS + CLOSE)
    sys.stderr.write(counted(count, "fragment") + "\n")
    if untimed:
        sys.stderr.write(f"{untimed} of them have no {arguments.valid_time}: no valid time\n")
    return 0


def _join(arguments: Parsed) -> int:
    from xstreamcast.edges.inputs import stream_name
    from xstreamcast.edges.joining import join
    from xstreamcast.edges.quarantine import Quarantine

    with work_shown():
        joined = join(arguments.file, arguments.structure, arguments.on_error)
    with output(arguments.output) as out:
        out.write(joined.document + b"\n")
    kept = arguments.quarantine or f"{stream_name(arguments.file)}.refused.xml"
    with Quarantine(kept) as quarantine:
        for refused in joined.refused:
            quarantine.add(refused)
            sys.stderr.write(f"refused: {refused}\n")
    if joined.refused:
        sys.stderr.write(f"{quarantine.count} refused, kept in {kept}\n")
    return 4 if joined.refused else 0


@contextmanager
def output(path: str | None) -> Iterator[BinaryIO]:
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        file = open(path, "wb")  # noqa: SIM115  # only opening may fail as the user's mistake
    except OSError as failed:
        raise error("XSCU0004", f"cannot write {path}: {failed.strerror}") from None
    with file:
        yield file
