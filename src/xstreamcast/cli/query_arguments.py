"""The arguments of run, watch and explain: the query, its inputs and values."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.errors import Error, QueryError, TextPlace, error

if TYPE_CHECKING:
    from xstreamcast.api import Queries, Query


def add_query_arguments(parser: Parser, more: str = "") -> None:
    """The query, in a file or here."""
    parser.add_argument(
        "file", nargs="?", metavar="FILE.xq", help=f"a file with the query; - is stdin{more}"
    )
    parser.add_argument("-q", "--query", metavar="QUERY", help="the query")
    _add_module_argument(parser)


def _add_module_argument(parser: Parser) -> None:
    parser.add_argument(
        "--module-path", action="append", default=[], metavar="FOLDER",
        help="a folder with library modules that the query imports",
    )  # fmt: skip


def add_input_arguments(parser: Parser, more: str = "") -> None:
    """The query, its inputs, the values of its variables, and which answer is emitted."""
    add_query_arguments(parser, more)
    _add_input_arguments(parser)
    parser.add_argument(
        "--tell", default="", metavar="NAME",
        help="emit the answer of this declared stream instead of the answer of the body",
    )  # fmt: skip


def add_source_arguments(parser: Parser) -> None:
    """Inputs, the values of variables, and library modules, for queries that are given already."""
    _add_module_argument(parser)
    _add_input_arguments(parser)


def _add_input_arguments(parser: Parser) -> None:
    parser.add_argument(
        "-i", "--input", action="append", default=[], metavar="[NAME=]SOURCE",
        help="a document or a stream of fragments: a file, a folder, a pattern, - (stdin), or an "
        "address (http, ws, mqtt, kafka, tcp; docs/sources.md); without NAME: the context item",
    )  # fmt: skip
    parser.add_argument(
        "-b", "--bind", action="append", default=[], metavar="NAME=VALUE",
        help="the value of an external variable",
    )  # fmt: skip


def query_text(arguments: Parsed) -> tuple[str, str]:
    """The text and the name of the query: from -q, a file or stdin, and one of them only."""
    if arguments.query is None and arguments.file is None:
        raise error("XSCU0001", "one query must be given: -q QUERY or FILE.xq")
    if arguments.query is not None and arguments.file is not None:
        hint = f"an input is given with -i {arguments.file}"
        raise error("XSCU0001", f"two queries are given: -q and {arguments.file}", hint=hint)
    if arguments.query is not None:
        return arguments.query, "query"
    if arguments.file == "-":
        if any(word.rpartition("=")[2] == "-" for word in arguments.input):
            raise error("XSCU0001", "stdin can be the query or an input, not both")
        return sys.stdin.read(), "stdin"
    if Path(arguments.file).is_dir():
        raise error(
            "XSCU0003",
            f"{arguments.file} is a folder; only watch and serve take a folder of queries",
        )
    return query_file(Path(arguments.file)), arguments.file


def compiled_query(arguments: Parsed) -> Query:
    """The query, compiled; where it lacks the declaration of a variable of -b, a hint says so."""
    from xstreamcast.api import query

    text, name = query_text(arguments)
    try:
        return query(text, name=name, module_path=arguments.module_path)
    except Error as caught:
        undeclared = re.match(r"variable \$(\S+) is not declared", caught.message)
        given = [word.partition("=")[0] for word in arguments.bind]
        if caught.hint is None and undeclared is not None and undeclared[1] in given:
            caught.hint = f"begin the query with: declare variable ${undeclared[1]} external;"
        raise


def query_texts(folder: Path) -> dict[str, str]:
    """The queries of a folder: the files that end in .xq, by their names without it."""
    found = sorted(one for one in folder.iterdir() if one.suffix == ".xq" and one.is_file())
    if not found:
        raise error("XSCU0003", f"{folder} has no queries: files that end in .xq")
    return {one.stem: query_file(one) for one in found}


def query_file(path: Path) -> str:
    """The text of a query."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        hint = "a query that is no file is given with -q" if _may_be_query(path) else None
        raise error("XSCU0003", f"cannot open {path}: no such file", hint=hint) from None
    except UnicodeDecodeError as why:
        raise error(
            "XSCU0003", f"{path} is not UTF-8: invalid byte at offset {why.start}"
        ) from None


def _may_be_query(path: Path) -> bool:
    """Whether a word that names no file has what queries have and names of files have not."""
    return re.search(r"[$(\[{@=<]|//|^/?\w+$", str(path)) is not None


def sources(words: list[str]) -> tuple[str | None, dict[str, str]]:
    """The words of -i: the source without a name, if there is one, and the named ones."""
    unnamed: list[str] = []
    named: dict[str, str] = {}
    for word in words:
        name, equals, source = word.partition("=")
        _check_scheme(word)
        if equals and re.fullmatch(r"[\w.-]+", name) and not os.path.exists(word):
            _check_named(name, source, named)
            named[name] = source
        else:
            unnamed.append(word)
    if len(unnamed) > 1:
        raise error(
            "XSCU0001", "at most one input may have no name; name the others: -i name=SOURCE"
        )
    if [*unnamed, *named.values()].count("-") > 1:
        raise error(
            "XSCU0001", "stdin can be one input only; two are -",
            hint="process substitution reads two commands: -i a=<(…) -i b=<(…)",
        )  # fmt: skip
    return (unnamed[0] if unnamed else None), named


def _check_scheme(word: str) -> None:
    """An address must begin as those do that can be read."""
    found = re.match(r"(?:[\w.-]+=)?(?:[\w./-]+:)?([A-Za-z][A-Za-z0-9+]*)://", word)
    if found is not None and found[1] not in (*_SCHEMES, _REFUSED) and not os.path.exists(word):
        known = ", ".join(f"{one}://" for one in _SCHEMES)
        raise error(
            "XSCU0001", f"{found[1]}:// cannot be read", hint=f"addresses begin with {known}"
        )


_SCHEMES: Final = (
    "http", "https", "ws", "wss", "mqtt", "mqtts", "kafka", "kafkas", "tcp",
)  # fmt: skip
_REFUSED: Final = "tcps"  # who opens it says what to use


def _check_named(name: str, source: str, named: dict[str, str]) -> None:
    """A source must not be empty, and no name may be used twice."""
    if not source:
        raise error("XSCU0001", f"an input must have a source; got -i {name}=")
    if name in named:
        said = f"-i {name}= is given twice: {named[name]} and {source}"
        hint = "files of one input are a folder or a pattern; two inputs have two names"
        raise error("XSCU0001", said, hint=hint)


def bindings(declaring: Query | Queries, words: list[str]) -> dict[str, str]:
    """The words of -b, if the query declares a variable for each: no slip of the pen is ignored."""
    found: dict[str, str] = {}
    for name, value in map(_binding, words):
        if name in found:
            raise error("XSCU0001", f"-b {name}= is given twice: {found[name]} and {value}")
        found[name] = value
    known = sorted(v.local for v in declaring.variables if v.external)
    for name in found:
        if name not in known:
            listed = ", ".join(f"${one}" for one in known)
            hint = f"it declares {listed}" if known else f"declare variable ${name} external;"
            raise error(
                "XSCU0005",
                f"-b {name}=… needs an external variable ${name} in the query",
                hint=hint,
            )
    return found


def _binding(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals:
        raise error("XSCU0001", f"a binding must be NAME=VALUE; got {word}")
    return name.removeprefix("$"), value


def hint_at_context(caught: Error, words: list[str]) -> None:
    """A hint for a query that needs a context item and has none."""
    if caught.code != "XPDY0002" or caught.hint is not None:
        return
    document, named = sources(words)
    near = _near_instant(caught)
    if isinstance(caught, QueryError):
        caught.not_given = document is None and near is None
    if near is not None:
        caught.hint = f"did you mean {near}?"
    elif document is None and named:
        streams = [f'stream("{name}")' for name in named]
        caught.hint = f"start the path with {' or '.join(streams)}"
    elif document is None:
        caught.hint = "give one with -i SOURCE"


def _near_instant(caught: Error) -> str | None:
    """The word for an instant that a name inside a projection is near to."""
    at = caught.place
    if not isinstance(at, TextPlace):
        return None
    before, word = at.source_line[: at.column - 1], at.source_line[at.column - 1 :]
    found = re.match(r"[A-Za-z]+", word)
    if found is None or not re.search(r"[?#]\[[^\]]*$", before):
        return None
    from difflib import get_close_matches

    return next(iter(get_close_matches(found[0], ("now", "start", "last"), 1)), None)


@contextmanager
def written_to(path: str) -> Iterator[None]:
    """Errors of the file of -o name that file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as failed:
        if failed.filename not in (None, path):
            raise
        why = (failed.strerror or str(failed)).lower()
        raise error("XSCU0004", f"{path or 'the output'} cannot be written: {why}") from None
