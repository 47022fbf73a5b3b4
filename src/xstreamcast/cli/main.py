"""The door: finds the command, runs it, and turns whatever happens into an exit code."""

from __future__ import annotations

import errno
import os
import sys
import traceback

from xstreamcast.cli.arguments import everywhere, parser
from xstreamcast.cli.screens import help_screen, version_line
from xstreamcast.cli.table import CommandRow, find, nearest, present
from xstreamcast.errors import Error, error

INTERRUPTED = 130
READER_GONE = 141  # what a shell reports for any filter whose reader went away


def main(argv: list[str]) -> int:
    """Run one command line → its exit code. Data goes to stdout, all else to stderr."""
    try:
        return _guarded(argv)
    except BrokenPipeError:
        _discard_output()
        return READER_GONE


def _discard_output() -> None:
    """The interpreter flushes once more on its way out; give it a file to write to."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _guarded(argv: list[str]) -> int:
    try:
        status = _dispatch(everywhere(argv).words)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except Exception as caught:
        return _report(caught, argv)


def _dispatch(words: list[str]) -> int:
    match words:
        case [] | ["-h" | "--help" | "help", *_]:
            sys.stdout.write(help_screen())
        case ["-V" | "--version" | "version", *_]:
            sys.stdout.write(version_line() + "\n")
        case [name, *rest]:
            return _call(find(name) or _unknown(name), rest)
    return 0


def _call(row: CommandRow, words: list[str]) -> int:
    module = row.load()
    arguments = parser(f"xstreamcast {row.name}", row.help)
    module.add_arguments(arguments)
    try:
        return module.main(arguments.parse_args(words))
    except SystemExit as done:  # argparse leaves this way after --help
        return done.code if isinstance(done.code, int) else 0


def _unknown(name: str) -> CommandRow:
    if name.startswith("-"):
        near = nearest(name, ["--version", "--help"])
        hint = f"did you mean {near}?" if near else "xstreamcast --help"
        raise error("XSCU0001", f"the first argument must be a command; got {name}", hint=hint)
    names = [row.name for row in present()]
    near = nearest(name, names)
    hint = f"did you mean {near}?" if near else f"the commands are {', '.join(names)}"
    raise error("XSCU0002", f"there is no command {name}", hint=hint)


def _report(caught: Exception, argv: list[str]) -> int:
    raised = _as_error(caught)
    if "--debug" in argv:
        traceback.print_exception(caught, file=sys.stderr)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError:  # what was caught came first, and is reported
        _discard_output()
    sys.stderr.write(raised.render(_colored(argv)) + "\n")
    return raised.exit_status


def _as_error(caught: Exception) -> Error:
    """Whatever was raised, as an error for the user."""
    match caught:
        case Error():
            return caught
        case OSError(errno=errno.ENOSPC | errno.EDQUOT | errno.EFBIG, strerror=str(reason)):
            what = caught.filename or "the output"
            return error("XSCU0004", f"{what} does not fit: {reason.lower()}")
        case OSError(errno=errno.EBADF, filename=None):
            return error("XSCU0004", "the output cannot be written: it is closed")
        case FileExistsError(filename=str(name)):
            return error("XSCU0003", f"{name} must be a folder; it is a file")
        case NotADirectoryError(filename=str(name)):
            while name and not os.path.isfile(name):
                name = os.path.dirname(name)
            return error("XSCU0003", f"{name} must be a folder; it is a file")
        case OSError(filename=str(name), strerror=str(reason)):
            return error("XSCU0003", f"{name} cannot be opened: {reason.lower()}")
        case RecursionError():
            return error("XSCD0001", "the query or its data is nested or recurses too deeply")
        case _ if type(caught).__module__.partition(".")[0] in ("pyspark", "py4j"):
            from xstreamcast.spark.failing import failure

            return failure(caught)
        case _:
            sentence = f"internal error: {type(caught).__name__}: {caught}"
            return error(
                "XSCB0001", sentence, hint="run it again with --debug and report the stack trace"
            )


def _colored(argv: list[str]) -> bool:
    """Whether errors are coloured: on request, or on a terminal unless disabled."""
    try:
        choice = everywhere(argv).color
    except Error:  # the choice itself is the mistake being reported
        choice = "never"
    if choice != "auto":
        return choice == "always"
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stderr.isatty() and not plain
