"""`xstreamcast explain`: how a query is understood and computed, stage by stage."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

from xstreamcast.algebra.analysis.infinite import blocked, refuse_blocked
from xstreamcast.algebra.lowering import lower
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.queries import BODY, modules, programs
from xstreamcast.algebra.show import show_program
from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.cli.query_arguments import add_query_arguments, query_text
from xstreamcast.cli.translation import (
    add_translation_arguments,
    given_structures,
    naming_units,
    translation,
)
from xstreamcast.errors import error
from xstreamcast.evaluate.deep import deep
from xstreamcast.rewrite.optimise import optimise, trace
from xstreamcast.syntax import parse, show_tree
from xstreamcast.syntax.tree import Module

STAGES: Final = (
    "tree", "plan", "optimised", "xquery", "circuit", "strategy", "spark",
)  # fmt: skip


def add_arguments(parser: Parser) -> None:
    add_query_arguments(parser)
    parser.add_argument(
        "--stage",
        choices=STAGES,
        default="plan",
        help="tree (as parsed), plan (as lowered), optimised, xquery (without XCQL), circuit (the "
        "incremental operators of watch), strategy (what run reads of each stream, and why), or "
        "spark (what tasks do, and Spark's plan); default: plan",
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
        help="strict: refuse expressions that need the end of a sequence that may have none",
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="with --stage spark: where a continuous query is computed, and why; with -i also its "
        "plan on Spark",
    )
    add_translation_arguments(parser)


def main(args: Parsed) -> int:
    text, name = query_text(args)
    sys.stdout.write(deep(lambda: _shown(parse(text, name), args)) + "\n")
    return 0


def _shown(module: Module, args: Parsed) -> str:
    """The stage of each query that the module has: those of declared streams first."""
    if args.stage == "tree":
        return show_tree(module)
    if args.stage == "spark":
        return _spark(module, args)
    made, _ = programs(module, lambda one: _lowered(one, args))  # an error where they form a circle
    if args.stage == "circuit":
        shown = _circuits(made, args)
    else:
        shown = {name: _stage(one, args) for name, one in modules(module).items()}
    if len(shown) == 1:
        return shown[BODY]
    return "\n\n".join(
        f"declare stream {name}\n\n{text}" if name else f"body\n\n{text}"
        for name, text in shown.items()
    )


def _stage(module: Module, args: Parsed) -> str:
    match args.stage:
        case "xquery":
            return translation(module, args)
        case "strategy":
            return _strategy(module, args)
        case _:
            return _explained(_lowered(module, args), args.stage, args.policy, args.trace)


def _lowered(module: Module, args: Parsed) -> Program:
    """The program, with the libraries that it imports."""
    if not args.module_path:
        return lower(module)
    from xstreamcast.edges.module_path import ModulePath

    return lower(module, modules=ModulePath(args.module_path))


def _circuits(made: Mapping[str, Program], args: Parsed) -> dict[str, str]:
    """The circuit of each query; those before it are inputs of its own kind."""
    from xstreamcast.operators.feeds.once import read_once
    from xstreamcast.operators.relational.explain import explain_circuit, grown_answers

    structures, once = given_structures(args), read_once(made)
    programs = {name: optimise(program) for name, program in made.items()}
    grown = grown_answers(programs, structures, once)
    return {
        name: explain_circuit(
            program, structures, frozenset(made),
            frozenset(stream for reader, stream in once if reader == name), grown,
        )
        for name, program in programs.items()
    }  # fmt: skip


def _strategy(module: Module, args: Parsed) -> str:
    from xstreamcast.algebra.analysis.strategies import explain_strategy

    structures = given_structures(args)
    if not structures:
        raise error("XSCU0001", "no stream was given", hint="-i NAME=FILE or --structure NAME=FILE")
    program = optimise(_lowered(module, args))
    return "\n".join([explain_strategy(program, structures), *_kept_values(program, args)])


def _kept_values(program: Program, args: Parsed) -> list[str]:
    """What values that tables keep decide before payloads are read."""
    from xstreamcast.cli.query_arguments import sources
    from xstreamcast.edges.loading import table_path

    found = []
    for name, source in sources(args.input)[1].items():
        table = table_path(source)
        if table is not None:
            from xstreamcast.edges.table.values.choosing import explain_values

            found += [f"stream {name}: {words}" for words in explain_values(program, name, table)]
    return found


def _spark(module: Module, args: Parsed) -> str:
    """What the tasks of `run --runner spark` do, and Spark's plan."""
    made, _ = programs(module, lambda one: optimise(_lowered(one, args)))
    if args.watch:
        stages = _left_running(made, args)
        return f"{stages}\n\n{_streaming_plan(made, args)}" if args.input else stages
    from xstreamcast.cli.run import read_sources
    from xstreamcast.edges.binding import Options
    from xstreamcast.spark.running.spark_run import SparkRun
    from xstreamcast.spark.session import session

    document, named = read_sources(args.input)
    run = SparkRun(session(quick=True), made, document, named, Options())
    try:
        return run.explained()
    finally:
        run.sources.close()


def _left_running(made: Mapping[str, Program], args: Parsed) -> str:
    """Where `watch --runner spark` computes what."""
    from xstreamcast.circuit.show.stages import explain_stages, in_one_partition

    if len(made) > 1:
        return in_one_partition("it reads the answers of declared streams")
    structures = given_structures(args)
    if not structures and not args.input:
        raise error("XSCU0001", "no stream was given", hint="-i NAME=FILE or --structure NAME=FILE")
    (program,) = made.values()
    strict = args.policy == "strict"
    return explain_stages(program, structures, strict, keyed=naming_units(args))


def _streaming_plan(made: Mapping[str, Program], args: Parsed) -> str:
    """Spark's plan of the continuous query over the inputs that were given."""
    from xstreamcast.cli.query_arguments import sources
    from xstreamcast.edges.watching import WatchOptions
    from xstreamcast.spark.session import session
    from xstreamcast.spark.watching.run import SparkWatching, watchings

    document, named = sources(args.input)
    inputs: dict[str | None, str] = dict(named.items())
    if document is not None:
        inputs[None] = document
    options = WatchOptions(policy=args.policy)
    queries = watchings({"query": (made, inputs, {})}, options)
    return SparkWatching(session(quick=True), queries, options).plan()


def _explained(program: Program, stage: str, policy: str, traced: bool = False) -> str:
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
