"""xstreamcast map: a mapping proposed from samples of a feed, or one checked with them."""

from __future__ import annotations

import sys

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.errors import error


def add_arguments(parser: Parser) -> None:
    """What the command understands."""
    parser.add_argument("samples", nargs="*", metavar="SAMPLE", help="files of the feed")
    parser.add_argument(
        "--check", metavar="MAPPING",
        help="check this mapping (its name or a file) against the samples",
    )  # fmt: skip
    parser.add_argument(
        "--print", metavar="NAME", dest="shipped",
        help="print a mapping that ships with the package, as a beginning of your own",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="FILE.toml", help="write to this file instead of stdout"
    )


def main(arguments: Parsed) -> int:
    """Propose and show, or check."""
    from xstreamcast.edges.inputs import chunks, message_in, paths

    if arguments.shipped is not None:
        return _print(arguments.shipped, arguments.output)
    if not arguments.samples:
        raise error("XSCU0001", "map needs a SAMPLE: files of the feed")
    files = [path for sample in arguments.samples for path in paths(sample)]
    if arguments.check is not None:
        return _check([(path, message_in(path)) for path in files], arguments.check)
    return _propose([(path, b"".join(chunks(path))) for path in files], arguments.output)


def _propose(inputs: list[tuple[str, bytes]], output: str | None) -> int:
    from xstreamcast.cli.fragment import output as opened
    from xstreamcast.edges.mapping.form import parse_mapping
    from xstreamcast.edges.mapping.line_sampling import all_alike, line_form, line_proposal
    from xstreamcast.edges.mapping.writing import Judged, proposal
    from xstreamcast.edges.sources.looks import HEAD, refuse_foreign

    form = all_alike(line_form(path, data) for path, data in inputs)
    for path, data in inputs if form is None else ():
        refuse_foreign(data[:HEAD], path)
    text = proposal(inputs) if form is None else line_proposal(form, [data for _, data in inputs])
    judged = Judged(parse_mapping(text, "proposed"), inputs)
    with opened(output) as out:
        out.write(text.encode())
        out.write("".join(f"# {line}\n" for line in (*judged.lines(), *judged.shown)).encode())
    if output is not None:
        sys.stderr.write(f"{output}: read it, correct it, then -i NAME={output}:PLACE\n")
    return 0


def _print(name: str, output: str | None) -> int:
    from xstreamcast.cli.fragment import output as opened
    from xstreamcast.edges.mapping.finding import shipped, shipped_text

    if name not in shipped():
        raise error(
            "XSCU0007", f"no mapping {name} ships with the package",
            hint=f"shipped mappings: {', '.join(shipped())}",
        )  # fmt: skip
    with opened(output) as out:
        out.write(shipped_text(name).encode())
    return 0


def _check(inputs: list[tuple[str, bytes]], word: str) -> int:
    from xstreamcast.edges.mapping.finding import named_mapping
    from xstreamcast.edges.mapping.unfit import unfit, without_times, without_zones
    from xstreamcast.edges.mapping.writing import Judged

    judged = Judged(named_mapping(word), inputs)
    for line in (*judged.lines(), *judged.shown):
        sys.stdout.write(line + "\n")
    nothing = unfit(judged.decoder)
    notes = [*without_times(judged.decoder), *without_zones(judged.decoder)]
    for note in notes if nothing is None else (nothing,):
        sys.stderr.write(f"note: {note}\n")
    return 0
