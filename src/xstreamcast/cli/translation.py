"""`xstreamcast explain --stage xquery`: the query in standard XQuery, for other processors."""

from __future__ import annotations

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.errors import DataPlace, error
from xstreamcast.model.structure import TagStructure
from xstreamcast.syntax.tree import Module


def add_translation_arguments(parser: Parser) -> None:
    """The options of the stage, in addition to the query."""
    parser.add_argument(
        "--strategy",
        choices=("caq", "qac", "qac+"),
        default="qac+",
        help="with --stage xquery: how holes are followed (default: qac+)",
    )
    parser.add_argument(
        "--structure", action="append", default=[], metavar="NAME=FILE",
        help="with --stage xquery, circuit, strategy or spark: the tag structure of stream NAME",
    )  # fmt: skip
    parser.add_argument(
        "-i", "--input", action="append", default=[], metavar="[NAME=]SOURCE",
        help="with --stage xquery, circuit, strategy or spark: an input of the query, in "
        "the form that watch reads; only the tag structure of a stream is read",
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
        module, args.strategy, given_structures(args), planned=args.clock == "wall",
        between=args.between,
    ).rstrip("\n")  # fmt: skip


def given_structures(args: Parsed) -> dict[str, TagStructure]:
    """The tag structures that were given, by stream; documents have none."""
    from xstreamcast.cli.query_arguments import sources
    from xstreamcast.edges.structures import read_structure

    known = {name: read_structure(file) for name, file in map(_named, args.structure)}
    found = {name: _last_structure(name, source) for name, source in sources(args.input)[1].items()}
    return known | {name: one for name, one in found.items() if one is not None}


def naming_units(args: Parsed) -> frozenset[str]:
    """The streams whose fragments name their units, by their first bytes."""
    from xstreamcast.cli.query_arguments import sources
    from xstreamcast.edges.ahead import ahead_of
    from xstreamcast.edges.inputs import kind_of_source
    from xstreamcast.edges.loading import table_path
    from xstreamcast.edges.mapping.finding import mapping_of

    named = sources(args.input)[1].items()
    plain = ((n, s) for n, s in named if mapping_of(s)[0] is None and table_path(s) is None)
    files = ((name, source) for name, source in plain if kind_of_source(source) == "fragments")
    return frozenset(name for name, source in files if ahead_of(name, source).names_units)


def _named(word: str) -> tuple[str, str]:
    name, equals, source = word.partition("=")
    if not equals or not name:
        raise error("XSCU0001", f"a structure must be given as NAME=FILE; got {word}")
    return name, source


def _last_structure(name: str, source: str) -> TagStructure | None:
    """The last structure of a stream; None for a document."""
    from xstreamcast.edges.decoding import decoder_of
    from xstreamcast.edges.inputs import arrivals, kind_of_source
    from xstreamcast.edges.loading import table_path
    from xstreamcast.edges.mapping.finding import mapping_of
    from xstreamcast.edges.sources import is_place, shown
    from xstreamcast.model.fragment import NewStructure
    from xstreamcast.tape.names import Names

    if (table := table_path(source)) is not None:
        return _of_table(name, table)
    mapping, place = mapping_of(source)
    if is_place(place):
        raise error(
            "XSCU0001", f"explain reads files; got {shown(place)}",
            hint=f"save some of it to a file, or give --structure {name}=FILE",
        )  # fmt: skip
    kind = "fragments" if mapping is not None else kind_of_source(place)
    if kind == "document":
        return None
    found: TagStructure | None = None
    for batch in arrivals(place, decoder_of(kind, name, Names(), "quarantine", mapping=mapping)):
        for one in batch:
            found = one.structure if isinstance(one, NewStructure) else found
    if found is None:
        raise error("XSCF0010", at=DataPlace(name), hint=f"--structure {name}=FILE")
    return found


def _of_table(name: str, table: str) -> TagStructure:
    from xstreamcast.edges.table.log import Log
    from xstreamcast.edges.table.reading import stream_of, structure_in

    state = Log(table).needed()
    which = stream_of(state, name, table)
    return structure_in(state.streams[which], which)
