"""Reading the command line: argparse, with our own errors."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from xstreamcast.errors import error

Parsed: TypeAlias = argparse.Namespace

EVERYWHERE = "all commands: --debug prints the stack trace of an error, --color auto|always|never"


class Parser(argparse.ArgumentParser):
    """argparse that raises a usage error instead of leaving the process."""

    def error(self, message: str) -> NoReturn:
        number = re.fullmatch(r"argument (\S+): invalid (int|float) value: '(.*)'", message)
        if number is not None:
            kind = "a whole number" if number[2] == "int" else "a number"
            message = f"{number[1].rpartition('/')[2]} must be {kind}; got {number[3]}"
        missing = re.fullmatch(r"the following arguments are required: (.*)", message)
        if missing is not None:
            message = f"{self.prog} needs {missing[1].replace(', ', ' and ')}"
        surplus = re.fullmatch(r"unrecognized arguments: (\S+).*", message)
        if surplus is not None:
            what = "has no option" if surplus[1].startswith("-") else "does not take"
            message = f"{self.prog} {what} {surplus[1]}"
        raise error("XSCU0001", message, hint=f"{self.prog} --help")

    def _print_message(self, message: str, file: Any = None) -> None:
        """argparse passes over an output that cannot be written; a command reports it."""
        (file or sys.stderr).write(message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is none of the choices, with the nearest of them."""
        if action.choices is None or value in action.choices:
            return
        from difflib import get_close_matches

        known = [str(one) for one in action.choices]
        near = get_close_matches(str(value), known, 1)
        hint = f"did you mean {near[0]}?" if near else f"{self.prog} --help"
        name = action.option_strings[-1] if action.option_strings else action.dest
        sentence = f"{name} must be one of {', '.join(known)}; got {value}"
        raise error("XSCU0001", sentence, hint=hint)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The options; one that is not known is named with the one that was probably meant."""
        words = list(args or ())
        if not any(action.nargs == argparse.REMAINDER for action in self._actions):
            for word in words[: words.index("--") if "--" in words else len(words)]:
                self._refuse_unknown(word)
        return super().parse_args(words, namespace)

    def _refuse_unknown(self, word: str) -> None:
        name, known = word.partition("=")[0], self._option_string_actions
        if not re.fullmatch(r"--[a-z][a-z-]*", name) or name in known:
            return
        from difflib import get_close_matches

        long = [one.removeprefix("--") for one in known if one.startswith("--")]
        near = get_close_matches(name.removeprefix("--"), long, 1)
        hint = f"did you mean --{near[0]}?" if near else f"{self.prog} --help"
        raise error("XSCU0001", f"{self.prog} has no option {name}", hint=hint)


def parser(prog: str, description: str) -> Parser:
    """The parser that a command adds its arguments to."""
    return Parser(
        prog=prog,
        description=description,
        epilog=EVERYWHERE,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


@dataclass(frozen=True, slots=True)
class Everywhere:
    """The options every command understands, and the words that are left."""

    words: list[str]
    debug: bool = False
    color: str = "auto"


def everywhere(argv: list[str]) -> Everywhere:
    """Remove options that are allowed anywhere from a command line; keep what follows `--`."""
    stop = argv.index("--") if "--" in argv else len(argv)
    options, words, debug, color = iter(argv[:stop]), [], False, "auto"
    for word in options:
        name, equals, value = word.partition("=")
        if word == "--debug":
            debug = True
        elif name == "--color":
            color = value if equals else next(options, "")
        else:
            words.append(word)
    if color not in ("auto", "always", "never"):
        raise error("XSCU0001", f"--color must be auto, always or never; got {color or 'nothing'}")
    return Everywhere(words + argv[stop:], debug, color)


def at_least_one(option: str, count: int) -> int:
    """A number that an option was given, if it is one to count with."""
    if count < 1:
        raise error("XSCU0001", f"{option} must be 1 or more; got {count}")
    return count
