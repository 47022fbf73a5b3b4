"""The order in which the prolog's values are computed: each after those it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.free import facts
from xstreamcast.algebra.lowering.scope import Compilation
from xstreamcast.algebra.program import ContextItem, GlobalVariable, UserFunction
from xstreamcast.algebra.walk import descendants

Key = int | None  # the number of a variable; None for the context item


def in_order(
    variables: Sequence[GlobalVariable],
    context: ContextItem | None,
    functions: Sequence[UserFunction],
    shared: Compilation,
) -> list[GlobalVariable | ContextItem]:
    """Variables and the context item, each after those it needs; XQDY0054 if that is a circle."""
    declared: dict[Key, GlobalVariable | ContextItem] = {}
    if context is not None:
        declared[None] = context
    declared.update({one.variable.number: one for one in variables})
    reads = _through_functions(functions, declared)
    done: dict[Key, GlobalVariable | ContextItem] = {}

    def visit(key: Key, open_: tuple[Key, ...]) -> None:
        if key in done:
            return
        if key in open_:
            raise _circle(declared[key], shared)
        one = declared[key]
        for needed in _needed(one, reads, declared):
            visit(needed, (*open_, key))
        done[key] = one

    for key in declared:
        visit(key, ())
    return list(done.values())


def _circle(one: GlobalVariable | ContextItem, shared: Compilation) -> Exception:
    what = f"${one.variable.name}" if isinstance(one, GlobalVariable) else "the context item"
    return shared.fail("XQDY0054", f"the value of {what} depends on itself", one.span)


def _needed(
    one: GlobalVariable | ContextItem,
    reads: Sequence[frozenset[Key]],
    declared: Mapping[Key, object],
) -> list[Key]:
    if one.value is None:
        return []
    found = set(_direct(one.value, declared))
    found.update(key for index in _called(one.value) for key in reads[index])
    if facts(one.value).reads_focus and None in declared:
        found.add(None)
    return sorted(found, key=lambda key: -1 if key is None else key)


def _direct(value: p.Expression, declared: Mapping[Key, object]) -> Iterator[Key]:
    return (v.number for v in facts(value).used if v.number in declared)


def _called(value: p.Expression) -> Iterator[int]:
    for node in descendants(value):
        if isinstance(node, p.UserCall | p.UserRef):
            yield node.function


def _through_functions(
    functions: Sequence[UserFunction], declared: Mapping[Key, object]
) -> list[frozenset[Key]]:
    """For each function the variables it or a function it calls reads."""
    calls = [set(_called(one.body)) for one in functions]
    reads: list[frozenset[Key]] = [frozenset(_direct(one.body, declared)) for one in functions]
    changed = True
    while changed:
        wider = [reads[i].union(*(reads[j] for j in calls[i])) for i in range(len(functions))]
        changed, reads = wider != reads, wider
    return reads
