"""`xstreamcast explain --stage xquery`: the query in standard XQuery, for other processors."""

from __future__ import annotations

from pathlib import Path

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.errors import DataPlace, error
from xstreamcast.model.structure import TagStructure
from xstreamcast.syntax.tree import Module


def add_translation_arguments(parser: Parser) -> None:
    """What the stage needs to know beside the query."""
    parser.add_argument(
        "--strategy",
        choices=("caq", "qac", "qac+"),
        default="qac+",
        help="with --stage xquery: how holes are followed; qac+ if nothing is said",
    )
    parser.add_argument(
        "--structure", action="append", default=[], metavar="NAME=FILE",
        help="with --stage xquery, operators or strategy: the tag structure of stream NAME",
    )  # fmt: skip
    parser.add_argument(
        "-i", "--input", action="append", default=[], metavar="NAME=SOURCE",
        help="with --stage xquery, operators or strategy: a stream whose tag structure is taken",
    )  # fmt: skip
    parser.add_argument(
        "--clock", choices=("event", "wall"), default="event",
        help="with --stage xquery: wall if $xsc:now may be before valid times in the stream",
    )  # fmt: skip
    parser.add_argument(
        "--between", action="store_true",
        help="with --stage xquery: streams projected to [$xsc:since,$xsc:until]",
    )  # fmt: skip


def translation(module: Module, args: Parsed) -> str:
    """The translation, with its prolog."""
    from xstreamcast.algebra.translate import translate

    return translate(
        module, args.strategy, told_structures(args), planned=args.clock == "wall",
        between=args.between,
    ).rstrip("\n")  # fmt: skip


def told_structures(args: Parsed) -> dict[str, TagStructure]:
    """The tag structures that were given, by stream."""
    from xstreamcast.edges.structures import read_structure

    known = {name: read_structure(file) for name, file in map(_named, args.structure)}
    return known | {name: _told(name, source) for name, source in map(_named, args.input)}


def _named(word: str) -> tuple[str, str]:
    name, equals, source = word.partition("=")
    if not equals or not name:
        raise error("XSCU0001", f"a stream must be given as NAME=FILE; got {word}")
    return name, source


def _told(name: str, source: str) -> TagStructure:
    """The structure that a stream told last."""
    from xstreamcast.edges.inputs import arrivals
    from xstreamcast.edges.wire.decoder import Decoder
    from xstreamcast.model.fragment import Described

    found: TagStructure | None = None
    for batch in arrivals(Path(source), Decoder(name)):
        for one in batch:
            found = one.structure if isinstance(one, Described) else found
    if found is None:
        raise error("XSCF0010", at=DataPlace(name), hint=f"--structure {name}=FILE")
    return found
