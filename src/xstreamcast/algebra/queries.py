"""The queries of a module: its body, and each stream that it declares, with what they read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from xstreamcast.algebra.analysis.inputs import inputs_of
from xstreamcast.errors import error
from xstreamcast.syntax import tree as t

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program

BODY: Final = ""  # the name of the query that the body asks


def modules(module: t.Module) -> dict[str, t.Module]:
    """A module for each query: the same prolog without streams, and what the query asks."""
    prolog = tuple(one for one in module.prolog if not isinstance(one, t.StreamDecl))
    found: dict[str, t.Module] = {}
    for one in module.prolog:
        if isinstance(one, t.StreamDecl):
            if one.name in found:
                said = f'stream("{one.name}") is declared more than once'
                raise error("XSCS0003", said, at=module.source.place(one.span))
            found[one.name] = replace(module, prolog=prolog, body=one.value)
    return {**found, BODY: replace(module, prolog=prolog)}


def programs(
    module: t.Module, compiled: Callable[[t.Module], Program]
) -> tuple[dict[str, Program], dict[str, frozenset[str | None]]]:
    """The program of each query, what is read before what reads it; and the inputs of each."""
    made = {
        name: replace(compiled(one), name=name) if name else compiled(one)
        for name, one in modules(module).items()
    }
    if len(made) == 1:  # a query that declares no stream reads none that is declared
        return made, {BODY: frozenset()}
    reads = {name: inputs_of(program) for name, program in made.items()}
    return {name: made[name] for name in _in_order(module, reads)}, reads


def needed(target: str, reads: Mapping[str, Iterable[str | None]]) -> frozenset[str]:
    """A query and all that it reads, at first or at second hand."""
    found: set[str] = set()
    todo = [target]
    while todo:
        name = todo.pop()
        found.add(name)
        todo += [one for one in reads[name] if one and one in reads and one not in found]
    return frozenset(found)


def _in_order(module: t.Module, reads: Mapping[str, Iterable[str | None]]) -> list[str]:
    done: dict[str, None] = {}

    def visit(name: str, around: tuple[str, ...]) -> None:
        if name in around:
            circle = " → ".join((*around[around.index(name) :], name))
            span = next(
                d.span for d in module.prolog if isinstance(d, t.StreamDecl) and d.name == name
            )
            said = f"streams must not read each other in a circle; got {circle}"
            raise error("XSCS0004", said, at=module.source.place(span))
        if name not in done:
            for one in sorted(n for n in reads[name] if n and n in reads):
                visit(one, (*around, name))
            done[name] = None

    for name in reads:
        visit(name, ())
    return list(done)
