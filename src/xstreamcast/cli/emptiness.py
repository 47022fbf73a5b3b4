"""Why an answer may be empty: a namespace, a misspelt name, an input that the query never names.

A name that the input does not have explains an empty answer if the answer consists of what is found
by it, or if it is nearly a name of the input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from xstreamcast.algebra.plan import (
    Call,
    Const,
    Filter,
    ForEach,
    FunctionRef,
    IntervalProjection,
    Let,
    OrderBy,
    Path,
    Plan,
    Return,
    Step,
    StreamInput,
    TreeRoot,
    VersionProjection,
    Where,
)
from xstreamcast.algebra.walk import descendants

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.api import Answer
    from xstreamcast.edges.watching import Watching
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.tape.names import Names

Name = tuple[str, str]  # URI and local part; the URI * is a wildcard


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The names that an input has."""

    there: frozenset[Name]  # of all that was read, and those that structures promise
    listed: frozenset[str]  # those worth listing: what was read has the names of its wire too
    root: str | None = None  # the local name of the root element, where there is one

    @classmethod
    def of_answer(cls, answer: Answer) -> KnownNames:
        structures = [one.history.structure for one in answer.loaded]
        return cls._of(answer.store.names, structures, _root_element(answer))

    @classmethod
    def of_watching(cls, watching: Watching) -> KnownNames | None:
        """None where nothing is known: nothing was read, or several programs read it."""
        from xstreamcast.operators.watching.watch import Watch

        watch = watching.watch
        if not isinstance(watch, Watch) or not all(one.bytes for one in watching.arriving.values()):
            return None
        return cls._of(watch.names, watch.structures, None)

    @classmethod
    def _of(cls, names: Names, structures: Iterable[TagStructure], root: str | None) -> KnownNames:
        tags = {(tag.uri, tag.local) for one in structures for tag in one.tags.values()}
        read = {(uri, local) for _, local, uri in map(names.qname, range(len(names)))}
        locals_ = {local for _, local in tags} or {local for _, local in read}
        return cls(frozenset(read | tags), frozenset(locals_), root)


def likely_causes(programs: Iterable[Program], known: KnownNames) -> list[str]:
    """What may explain an answer without items, a sentence each."""
    there, programs = known.there, tuple(programs)
    there_locally = {local for _, local in there}
    named = {name for program in programs for name in _names_in(_nodes(program))}
    needed = {name for program in programs for name in _names_in(_needed(program.body))}
    missing = sorted(
        name
        for name in named
        if (name[1] not in there_locally if name[0] == _ANY else name not in there)
    )
    found = {name: _explained(name, there) for name in missing}
    said = [sentence for sentence in found.values() if sentence is not None]
    absent = [
        local for (uri, local), why in found.items() if why is None and (uri, local) in needed
    ]
    if absent:
        said.append(_absent(absent, known.listed))
    elif not missing:
        said += filter(None, (_not_the_root(program.body, known.root) for program in programs))
    return said


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
_SHOWN = 12  # names of the input that are listed
_OPENERS = (
    "doc", "doc-available", "unparsed-text", "unparsed-text-lines", "unparsed-text-available",
    "json-doc", "collection", "uri-collection", "stream",
)  # fmt: skip


def _explained(name: Name, there: frozenset[Name]) -> str | None:
    uri, local = name
    elsewhere = sorted({other for other, known in there if known == local})
    if elsewhere:
        said = _in(elsewhere[0])
        hint = f"*:{local} finds it in any" if not uri else ""
        hint = f'declare default element namespace "{elsewhere[0]}"; {hint}' if not uri else hint
        return f"the query looks for {local} {_in(uri)}, the input has it {said}" + (
            f" ({hint})" if hint else ""
        )
    alike = {known.casefold(): known for _, known in sorted(there)}
    near = get_close_matches(local.casefold(), list(alike), 1, 0.7)
    return f"nothing in the input is called {local}; there is {alike[near[0]]}" if near else None


def _absent(names: list[str], there: frozenset[str]) -> str:
    """That nothing has the names, and the names that there are."""
    known = sorted(filter(None, there))
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    listed = f"; there are {', '.join(known[:_SHOWN])}{more}" if known else ""
    return f"nothing in the input is called {' or '.join(names)}{listed}"


def _not_the_root(plan: Plan, root: str | None) -> str | None:
    """That a path begins with /name, and the root element has another name."""
    wanted = {
        step.test.local
        for step in _needed(plan)
        if step.axis == "child" and isinstance(step.input, TreeRoot) and step.test.local
    }
    if len(wanted) != 1 or root is None or root in wanted:
        return None
    name = next(iter(wanted))
    return f"the root element is {root}, and /{name} finds a root element; //{name} finds any"


def _root_element(answer: Answer) -> str | None:
    """The local name of the root element of the document that was read first, if one was."""
    try:
        first = answer.store.tape(0)[0]
    except LookupError:  # nothing was read, or it is no longer there
        return None
    elements = [one for one in first.children if one.kind == "element"]
    return elements[0].name.rpartition(":")[2] if elements else None


def _in(uri: str) -> str:
    return f"in {uri}" if uri else "in no namespace"


def _names_in(nodes: Iterable[Plan]) -> Iterator[Name]:
    for node in nodes:
        if isinstance(node, Step) and node.test.local is not None:
            yield _ANY if node.test.uri is None else node.test.uri, node.test.local


def _nodes(program: Program) -> Iterator[Plan]:
    plans = [program.body, *(one.body for one in program.functions)]
    plans += [one.value for one in program.variables if one.value is not None]
    for plan in plans:
        yield from descendants(plan)


def _needed(plan: Plan) -> Iterator[Step]:
    """The steps without whose nodes the plan has no items."""
    match plan:
        case Step(input):
            yield plan
            yield from _needed(input)
        case Path(left, right):
            yield from _needed(left)
            yield from _needed(right)
        case Filter(input, predicate):
            yield from _needed(input)
            yield from _needed(predicate)
        case IntervalProjection(input) | VersionProjection(input):
            yield from _needed(input)
        case Return(source, result):
            yield from _needed(source)
            yield from _needed(result)
        case ForEach(source, _, items, _, False):
            yield from _needed(source)
            yield from _needed(items)
        case Where(source, test):
            yield from _needed(source)
            yield from _needed(test)
        case Let(source) | OrderBy(source):
            yield from _needed(source)
        case _:
            return
