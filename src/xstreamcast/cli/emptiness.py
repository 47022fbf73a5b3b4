"""Why an answer may be empty: a namespace, a misspelt name, an input that the query never names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from xstreamcast.algebra.plan import Call, Const, FunctionRef, Plan, Step, StreamInput
from xstreamcast.algebra.walk import descendants

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.api import Answer

Name = tuple[str, str]  # URI and local part; the URI * is a wildcard


def likely_causes(programs: Iterable[Program], answer: Answer) -> list[str]:
    """What may explain an answer without items, a sentence each."""
    there = _names(answer)
    named = {name for program in programs for name in _names_in(program)}
    there_locally = {local for _, local in there}
    missing = sorted(
        name
        for name in named
        if (name[1] not in there_locally if name[0] == _ANY else name not in there)
    )
    return [said for name in missing if (said := _explained(name, there)) is not None]


def unused_inputs(programs: Iterable[Program], inputs: Mapping[str, Any]) -> list[str]:
    """Inputs that no part of the query reads, a sentence each."""
    used, any_may_be = set[str](), False
    for program in programs:
        used |= {one.local for one in program.variables if one.external}
        for node in _nodes(program):
            match node:
                case StreamInput(name):
                    used.add(name)
                case Call(function, (Const((name,)), *_)) if function.local in _OPENERS:
                    used.add(str(name.value))
                case Call(function) | FunctionRef(function):
                    any_may_be |= function.local in _OPENERS
                case _:
                    pass
    if any_may_be:
        return []
    return [
        f'the input {name} is not read: the query has no stream("{name}"), doc("{name}") or '
        f"external variable ${name}"
        for name in sorted(set(inputs) - used)
    ]


_ANY = "*"
_OPENERS = ("doc", "doc-available", "unparsed-text", "unparsed-text-lines", "stream")


def _explained(name: Name, there: set[Name]) -> str | None:
    uri, local = name
    elsewhere = sorted({other for other, known in there if known == local})
    if elsewhere:
        said = _in(elsewhere[0])
        hint = f"*:{local} finds it in any" if not uri else ""
        hint = f'declare default element namespace "{elsewhere[0]}"; {hint}' if not uri else hint
        return f"the query looks for {local} {_in(uri)}, the input has it {said}" + (
            f" ({hint})" if hint else ""
        )
    near = get_close_matches(local, sorted({known for _, known in there}), 1, 0.7)
    return f"nothing in the input is called {local}; there is {near[0]}" if near else None


def _in(uri: str) -> str:
    return f"in {uri}" if uri else "in no namespace"


def _names(answer: Answer) -> set[Name]:
    """The names of all that was read, and those that structures promise."""
    names = answer.store.names
    found = {(uri, local) for _, local, uri in map(names.qname, range(len(names)))}
    for loaded in answer.loaded:
        found |= {(tag.uri, tag.local) for tag in loaded.history.structure.tags.values()}
    return found


def _names_in(program: Program) -> Iterator[Name]:
    for node in _nodes(program):
        if isinstance(node, Step) and node.test.local is not None:
            yield _ANY if node.test.uri is None else node.test.uri, node.test.local


def _nodes(program: Program) -> Iterator[Plan]:
    plans = [program.body, *(one.body for one in program.functions)]
    plans += [one.value for one in program.variables if one.value is not None]
    for plan in plans:
        yield from descendants(plan)
