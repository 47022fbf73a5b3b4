"""The order in which the prolog's values are computed: each after those it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.lowering.scope import Compilation
from xstreamcast.algebra.program import ContextItem, GlobalVariable, UserFunction
from xstreamcast.algebra.walk import children, descendants

Key = int | None  # the number of a variable; None for the context item
Global = GlobalVariable | ContextItem
Walk = Callable[[p.Plan], Iterator[p.Plan]]


def in_order(
    variables: Sequence[GlobalVariable],
    context: ContextItem | None,
    functions: Sequence[UserFunction],
    shared: Compilation,
) -> list[Global]:
    """Variables and the context item, each after those it needs.

    XQDY0054 where a value certainly needs itself. A circle through a branch that may never be
    taken is left: the reader of a variable that is still being computed has found it.
    """
    declared: dict[Key, Global] = {} if context is None else {None: context}
    declared.update({one.variable.number: one for one in variables})
    if not declared:
        return []
    certain = _needs(declared, functions, _certain)
    for key in declared:
        if key in _reachable(key, certain):
            raise _circle(declared[key], shared)
    done: dict[Key, Global] = {}
    _visit(list(declared), _needs(declared, functions, descendants), declared, done, set())
    return list(done.values())


def _visit(
    keys: Sequence[Key],
    needs: Mapping[Key, Sequence[Key]],
    declared: Mapping[Key, Global],
    done: dict[Key, Global],
    begun: set[Key],
) -> None:
    for key in keys:
        if key not in begun:
            begun.add(key)
            _visit(needs[key], needs, declared, done, begun)
            done[key] = declared[key]


def _reachable(start: Key, needs: Mapping[Key, Sequence[Key]]) -> set[Key]:
    """What a value needs, directly or through others."""
    found: set[Key] = set()
    waiting = list(needs[start])
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting.extend(needs[key])
    return found


def _circle(one: Global, shared: Compilation) -> Exception:
    what = f"${one.variable.name}" if isinstance(one, GlobalVariable) else "the context item"
    return shared.fail("XQDY0054", f"the value of {what} depends on itself", one.span)


def _certain(plan: p.Plan) -> Iterator[p.Plan]:
    """The nodes that are evaluated whenever the plan is: branches are not."""
    yield plan
    match plan:
        case p.If(test) | p.Switch(test) | p.TypeSwitch(_, test):
            yield from _certain(test)
        case p.Inline():
            pass
        case _:
            for child in children(plan):
                yield from _certain(child)


def _needs(
    declared: Mapping[Key, Global], functions: Sequence[UserFunction], walk: Walk
) -> dict[Key, list[Key]]:
    """For each value the others it reads, itself or through functions."""
    calls = [set(_called(one.body, walk)) for one in functions]
    reads = [frozenset(_read(one.body, declared, walk)) for one in functions]
    changed = True
    while changed:
        wider = [reads[i].union(*(reads[j] for j in calls[i])) for i in range(len(functions))]
        changed, reads = wider != reads, wider
    return {key: _of_value(one, declared, reads, walk) for key, one in declared.items()}


def _of_value(
    one: Global, declared: Mapping[Key, Global], reads: Sequence[frozenset[Key]], walk: Walk
) -> list[Key]:
    if one.value is None:
        return []
    found = set(_read(one.value, declared, walk))
    found.update(key for index in _called(one.value, walk) for key in reads[index])
    if facts(one.value).reads_focus and None in declared:
        found.add(None)
    return sorted(found, key=lambda key: -1 if key is None else key)


def _read(value: p.Expression, declared: Mapping[Key, Global], walk: Walk) -> Iterator[Key]:
    for node in walk(value):
        if isinstance(node, p.Var) and node.variable.number in declared:
            yield node.variable.number


def _called(value: p.Expression, walk: Walk) -> Iterator[int]:
    heads = p.UserCall if walk is _certain else p.UserCall | p.UserRef
    for node in walk(value):
        if isinstance(node, heads):
            yield node.function
