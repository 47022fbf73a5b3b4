"""`xstreamcast explain`: how a query is understood and computed, stage by stage."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from xstreamcast.algebra.infinite import blocked, refuse_blocked
from xstreamcast.algebra.lowering import lower
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.show import show_program
from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.cli.translation import add_translation_arguments, told_structures, translation
from xstreamcast.errors import error
from xstreamcast.evaluate.deep import deep
from xstreamcast.rewrite.optimise import optimise, trace
from xstreamcast.syntax import parse, show_tree

STAGES: Final = ("tree", "plan", "optimised", "xquery", "operators", "strategy")


def add_arguments(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE.xq", nargs="?", help="the query's file; - is stdin")
    parser.add_argument("-q", "--query", metavar="QUERY", help="the query itself")
    parser.add_argument(
        "--stage",
        choices=STAGES,
        default="plan",
        help="tree (as parsed), plan (as lowered), optimised, xquery (without XCQL), operators "
        "(what watch computes and keeps), or strategy (what run reads of each stream, and why); "
        "plan if nothing is said",
    )
    parser.add_argument(
        "--trace",
        action="store_true",
        help="with --stage optimised: each rule that fired, and what it changed",
    )
    parser.add_argument(
        "--policy",
        choices=("strict", "optimistic"),
        default="optimistic",
        help="strict: refuse what needs the end of a sequence that may have none",
    )
    add_translation_arguments(parser)


def main(args: Parsed) -> int:
    name, text = query_text(args)
    if args.stage == "xquery":
        shown = deep(lambda: translation(parse(text, name), args))
    elif args.stage == "operators":
        shown = deep(lambda: _operators(name, text, args))
    elif args.stage == "strategy":
        shown = deep(lambda: _strategy(name, text, args))
    else:
        shown = deep(lambda: _explained(name, text, args.stage, args.policy, args.trace))
    sys.stdout.write(shown + "\n")
    return 0


def _operators(name: str, text: str, args: Parsed) -> str:
    from xstreamcast.operators.explain import explain_operators

    return explain_operators(optimise(lower(parse(text, name))), told_structures(args))


def _strategy(name: str, text: str, args: Parsed) -> str:
    from xstreamcast.algebra.strategies import explain_strategy

    structures = told_structures(args)
    if not structures:
        raise error("XSCU0001", "no stream was given", hint="-i NAME=FILE or --structure NAME=FILE")
    return explain_strategy(optimise(lower(parse(text, name))), structures)


def query_text(args: Parsed) -> tuple[str, str]:
    """The name and text of the query: from -q, a file or stdin, and one of them only."""
    if (args.file is None) == (args.query is None):
        raise error("XSCU0001", "give the query with -q or as a file, one of the two")
    if args.query is not None:
        return "query", args.query
    if args.file == "-":
        return "stdin", sys.stdin.read()
    try:
        return args.file, Path(args.file).read_text("utf-8-sig")
    except UnicodeDecodeError as caught:
        raise error("XSCU0003", f"{args.file} is not UTF-8 at byte {caught.start}") from None


def _explained(name: str, text: str, stage: str, policy: str, traced: bool = False) -> str:
    module = parse(text, name)
    if stage == "tree":
        return show_tree(module)
    program = lower(module)
    if policy == "strict":
        refuse_blocked(program)
    if stage == "plan":
        return "\n".join([show_program(program), *_notes(program)])
    steps = [f"{fired}\n" for fired in trace(program)] if traced else []
    return "\n".join([*steps, show_program(optimise(program)), *_notes(program)])


def _notes(program: Program) -> list[str]:
    """What will be revised rather than decided, because an input may have no end."""
    return [
        f"note: {one.sentence}; optimistic answers are revised ({program.source.place(one.span)})"
        for one in blocked(program)
    ]
