"""xstreamcast infer: a tag structure for documents, a DTD or an XML Schema."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.cli.fragment import output
from xstreamcast.cli.progress import work_shown
from xstreamcast.errors import error

if TYPE_CHECKING:
    from xstreamcast.edges.infer.graph import Graph


def add_arguments(parser: Parser) -> None:
    """What the command understands."""
    parser.add_argument(
        "files", nargs="+", metavar="DOC|FILE.dtd|FILE.xsd", help="documents, a DTD or an XSD"
    )
    parser.add_argument(
        "--temporal", action="append", default=[], metavar="PATH",
        help="a tag whose elements have versions, such as account or account/limit",
    )  # fmt: skip
    parser.add_argument(
        "--event", action="append", default=[], metavar="PATH",
        help="a tag whose elements happen at an instant",
    )  # fmt: skip
    parser.add_argument(
        "--filler", action="append", default=[], metavar="PATH",
        help="a tag whose elements are fragments without versions",
    )  # fmt: skip
    parser.add_argument(
        "--root", metavar="NAME", help="the root element, if a DTD or XSD has several"
    )
    parser.add_argument("-o", "--output", metavar="TS", help="write to this file instead of stdout")


def main(arguments: Parsed) -> int:
    """Look, propose, say why."""
    from xstreamcast.edges.infer import Wishes, propose
    from xstreamcast.edges.structures import write_structure

    wishes = Wishes(tuple(arguments.temporal), tuple(arguments.event), tuple(arguments.filler))
    with work_shown():
        proposal = propose(_graph(arguments.files, arguments.root), wishes)
    with output(arguments.output) as out:
        out.write(write_structure(proposal.structure) + b"\n")
    for line in proposal.lines():
        sys.stderr.write(line + "\n")
    if not any(tag.filler for tag in proposal.structure.tags.values()):
        sys.stderr.write("no tag is a fragment: name some with --temporal or --event\n")
    return 0


def _graph(files: list[str], root: str | None) -> Graph:
    from xstreamcast.edges.inputs import paths
    from xstreamcast.edges.sources.compressed import plain_name

    endings = {plain_name(file.lower()).rpartition(".")[2] for file in files}
    if endings & {"dtd", "xsd"}:
        if len(files) > 1:
            raise error("XSCU0001", "a DTD or XSD must be the only file; got several")
        return _declared(files[0], root)
    from xstreamcast.edges.infer.from_documents import graph_of_documents

    every = [path for file in files for path in paths(file)]
    return graph_of_documents(map(_document, every))


def _document(path: str) -> tuple[str, bytes]:
    from xstreamcast.edges.inputs import opened
    from xstreamcast.edges.sources.looks import HEAD, refuse_foreign

    with opened(path) as file:
        content = file.read()  # the parser counts it as progress
    refuse_foreign(content[:HEAD], path)
    return path, content


def _declared(file: str, root: str | None) -> Graph:
    if file.lower().endswith(".xsd"):
        from xstreamcast.edges.infer.from_xsd import graph_of_xsd

        return graph_of_xsd(file, root)
    from xstreamcast.edges.infer.from_dtd import graph_of_dtd
    from xstreamcast.edges.inputs import chunks

    return graph_of_dtd(b"".join(chunks(file)), file, root)
