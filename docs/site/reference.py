"""The reference pages, written from the program itself: commands, functions, errors."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from html import escape
from itertools import groupby

from xstreamcast.cli.arguments import Parser, parser
from xstreamcast.cli.screens import EXIT_CODES
from xstreamcast.cli.table import Row, present
from xstreamcast.errors import CODES, STATIC
from xstreamcast.functions.forms import FORMS
from xstreamcast.functions.registry import Function, rows

_PREFIXES = {
    "fn": "Functions without a prefix (`fn:`)",
    "map": "Maps",
    "array": "Arrays",
    "math": "Mathematics",
    "xs": "Constructors of types",
    "xsc": "Our own",
}

_OWN = {
    "XSCS": "The query uses something that is not supported, or declares streams wrongly",
    "XSCD": "The query fails while it runs",
    "XSCK": "Spark",
    "XSCB": "Mistakes of ours",
    "XSCX": "XML input",
    "XSCF": "Fragments",
    "XSCC": "Streams of changes",
    "XSCE": "Update streams",
    "XSCM": "Mappings",
    "XSCT": "Tag structures",
    "XSCU": "Usage",
}


def cell(text: str) -> str:
    """Text inside a table."""
    return escape(" ".join(text.split()), quote=False).replace("|", "\\|")


def code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def command_parser(row: Row) -> Parser:
    made = parser(f"xstreamcast {row.name}", row.help)
    row.load().add_arguments(made)
    return made


def options(made: Parser) -> Iterator[tuple[str, str]]:
    """Each argument as it is written, and what it does."""
    formatter = argparse.HelpFormatter(made.prog, width=1000, max_help_position=900)
    for action in made._actions:
        if action.help == argparse.SUPPRESS:
            continue
        yield formatter._format_action_invocation(action), formatter._expand_help(action)


def commands_page() -> str:
    """Every command with its options."""
    parts = [
        "# Commands\n\nThis page is generated from the help of the commands. "
        "[The command line](../command-line.md) explains what they have in common.\n"
    ]
    parts.append(f"```text\n{EXIT_CODES}\n```\n")
    for row in present():
        made = command_parser(row)
        usage = made.format_usage().removeprefix("usage: ").rstrip()
        parts.append(f"## {row.name}\n\n{row.help[:1].upper()}{row.help[1:]}.\n")
        parts.append(f"```text\n{usage}\n```\n")
        table = [f"| {code(name)} | {cell(text)} |" for name, text in options(made)]
        parts.append("| option | meaning |\n|---|---|\n" + "\n".join(table) + "\n")
    return "\n".join(parts)


def functions_page() -> str:
    """Every function with its signature."""
    parts = [
        "# All functions\n\nThis page is generated from the table of functions; `xstreamcast functions NAME` "
        "prints the same. [Functions](../functions.md) explains how to add your own.\n",
        "## Streams and time\n\n[A guide to time](../time.md) explains these.\n",
        "| form | result |\n|---|---|",
        *(f"| {code(form.signature)} | {cell(form.doc)} |" for form in FORMS),
    ]
    for prefix, found in groupby(rows(), key=lambda row: row.name.partition(":")[0]):
        parts.append(f"\n## {_PREFIXES.get(prefix, prefix)}\n\n| function | result |\n|---|---|")
        parts += [f"| {code(row.signature)} | {cell(row.doc)} |" for row in functions(found)]
    return "\n".join(parts) + "\n"


def functions(found: Iterator[Function]) -> list[Function]:
    return sorted(found, key=lambda row: (row.local, row.arity))


def errors_page() -> str:
    """Every code with its sentence."""
    parts = [
        "# Errors\n\nThis page is generated from the table of errors. Codes that begin with `XSC` are ours; all others are "
        "defined by the W3C. In Python every error is an `xstreamcast.Error` with `code`, `message`, `place` and `hint`.\n"
    ]
    own = [name for name in CODES if name.startswith("XSC")]
    for prefix, title in _OWN.items():
        here = [name for name in own if name.startswith(prefix)]
        parts.append(f"## {title}\n\n" + error_table(here))
    others = [name for name in CODES if not name.startswith("XSC")]
    parts.append(
        "## W3C, static: the query does not compile\n\n"
        + error_table([name for name in others if name in STATIC])
    )
    parts.append(
        "## W3C, dynamic: the query fails while it runs\n\n"
        + error_table([name for name in others if name not in STATIC])
    )
    return "\n".join(parts)


def error_table(names: list[str]) -> str:
    lines = ["| code | meaning | exit code |", "|---|---|---|"]
    for name in names:
        kind, sentence = CODES[name]
        status = 3 if name in STATIC else kind.exit_code
        lines.append(f"| <a id='{name}'></a>`{name}` | {cell(sentence)} | {status} |")
    return "\n".join(lines) + "\n"
