"""The reference pages, written from the program itself: commands, functions, errors."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby
from textwrap import fill

from xstreamcast.cli.manual import described
from xstreamcast.cli.screens import EXIT_CODES
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
    """Text as code; a bar in it does not end the cell."""
    return f"`{text}`"


def commands_page() -> str:
    """Every command with its options."""
    parts = [
        "# Commands\n\nThis page is generated from the help of the commands. "
        "[The command line](../command-line.md) explains what they have in common.\n"
    ]
    parts.append(f"```text\n{EXIT_CODES}\n```\n")
    for command in described():
        parts.append(f"## {command.name}\n\n{command.help[:1].upper()}{command.help[1:]}.\n")
        usage = fill(command.usage, 90, subsequent_indent="    ", break_on_hyphens=False)
        parts.append(f"```text\n{usage}\n```\n")
        every = (*command.arguments, *command.options)
        table = [f"| {code(one.shown)} | {cell(one.help)} |" for one in every]
        parts.append("| option | meaning |\n|---|---|\n" + "\n".join(table) + "\n")
    return "\n".join(parts)


def functions_page() -> str:
    """Every function with its signature."""
    parts = [
        "# All functions\n\nThis page is generated from the table of functions; "
        "`xstreamcast functions NAME` prints the same. "
        "[Functions](../functions.md) explains how to add your own.\n",
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
        "# Errors\n\nThis page is generated from the table of errors. Codes that begin with `XSC` "
        "are ours; all others are defined by the W3C. In Python every error is an "
        "`xstreamcast.Error` with `code`, `message`, `place` and `hint`.\n"
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
