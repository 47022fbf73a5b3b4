"""xstreamcast manual: the man page, written from the help of every command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from xstreamcast import __version__
from xstreamcast.cli.arguments import Parsed, Parser, parser
from xstreamcast.cli.screens import EXIT_CODES
from xstreamcast.cli.table import CommandRow, present


@dataclass(frozen=True, slots=True)
class Option:
    """An option or, without flags, an argument: what may be written and what it means."""

    flags: tuple[str, ...]
    shown: str
    help: str
    choices: tuple[str, ...]
    value: bool  # whether a value follows


@dataclass(frozen=True, slots=True)
class Described:
    """A command as its help describes it."""

    name: str
    help: str
    usage: str
    options: tuple[Option, ...]
    arguments: tuple[Option, ...]

    @property
    def choices(self) -> tuple[str, ...]:
        """Values of its arguments, where they are few and known."""
        return tuple(choice for one in self.arguments for choice in one.choices)


def described() -> Iterator[Described]:
    """Every command that is there."""
    for row in present():
        yield describe(row)


def describe(row: CommandRow) -> Described:
    made = parser(f"xstreamcast {row.name}", row.help)
    row.load().add_arguments(made)
    every = [_option(made, action) for action in made._actions if action.help != "==SUPPRESS=="]
    usage = " ".join(made.format_usage().removeprefix("usage: ").split())
    return Described(
        row.name, row.help, usage,
        tuple(one for one in every if one.flags), tuple(one for one in every if not one.flags),
    )  # fmt: skip


def _option(made: Parser, action: argparse.Action) -> Option:
    formatter = argparse.HelpFormatter(made.prog, width=1000, max_help_position=900)
    return Option(
        tuple(action.option_strings),
        formatter._format_action_invocation(action),
        " ".join(formatter._expand_help(action).split()) if action.help else "",
        tuple(map(str, action.choices or ())),
        action.nargs != 0,
    )


def add_arguments(parser: Parser) -> None:
    """Nothing: xstreamcast manual | man -l -"""


def main(arguments: Parsed) -> int:
    sys.stdout.writelines(f"{line}\n" for line in man_page())
    return 0


def man_page() -> Iterator[str]:
    """The page in the language of man."""
    yield f'.TH XSTREAMCAST 1 "" "xstreamcast {__version__}" "User Commands"'
    yield ".nh"
    yield ".ad l"
    yield ".SH NAME"
    yield "xstreamcast, xsc \\- continuous XQuery over XML feeds that correct themselves"
    yield ".SH SYNOPSIS"
    yield ".B xstreamcast"
    yield ".I COMMAND"
    yield "[options]"
    yield ".SH DESCRIPTION"
    yield "Evaluates XQuery over documents, streams and tables, or keeps a query running over a"
    yield "feed and prints how its answer changes. Data is written to standard output; progress,"
    yield "statistics and errors to standard error."
    yield ".SH COMMANDS"
    for command in described():
        yield f".SS {command.name}"
        yield _roff(f"{command.help[:1].upper()}{command.help[1:]}.")
        yield ".PP"
        yield _roff(command.usage)
        for option in (*command.arguments, *command.options):
            yield ".TP"
            yield f".B {_roff(option.shown)}"
            yield _roff(option.help)
    yield ".SH OPTIONS OF ALL COMMANDS"
    for flag, words in (
        ("--debug", "show the stack trace of an error"),
        ("--color auto|always|never", "when errors are coloured"),
    ):
        yield ".TP"
        yield f".B {_roff(flag)}"
        yield words
    yield ".SH EXIT STATUS"
    yield _roff(" ".join(EXIT_CODES.removeprefix("exit codes: ").split()))


def _roff(text: str) -> str:
    """Text that man prints as it is."""
    made = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{made}" if made.startswith((".", "'")) else made
