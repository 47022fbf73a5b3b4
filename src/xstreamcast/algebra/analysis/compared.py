"""Which fragments a query sees only where comparisons of values inside of them hold.

//event[severity >= 4]                     →  of events, those with a severity of 4 or more
for $e in //event where $e/@id = "x" …     →  of events, those with that id

Of other fragments of such a tag the query sees nothing but that they are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.path_comparisons import Run, operands, run_of
from xstreamcast.algebra.analysis.places import matches
from xstreamcast.algebra.analysis.strategies import decide
from xstreamcast.algebra.analysis.stream_usage import AROUND
from xstreamcast.algebra.program import with_bodies
from xstreamcast.algebra.walk import descendants, map_children
from xstreamcast.functions.call import CODEPOINT
from xstreamcast.functions.signature import FN
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.guide import Guide
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.sequence_type import NodeItem

_DOWN: Final = frozenset({"child", "descendant", "descendant-or-self", "self", "attribute"})
_UP: Final = frozenset({"parent", "ancestor", "ancestor-or-self"})
_COUNTING: Final = frozenset({"count", "exists", "empty"})
_ELSEWHERE: Final = AROUND | {"generate-id", "function-lookup", "load-xquery-module"}


@dataclass(frozen=True, slots=True)
class TagComparisons:
    """The runs of comparisons of which one must hold for a fragment of a tag to be seen.

    `counted`: some positions count the other fragments, too.
    """

    runs: tuple[Run, ...]
    counted: bool


def compared_tags(
    programs: Sequence[Program], name: str, guide: Guide, strategy: str
) -> dict[int, TagComparisons]:
    """By tag: the comparisons that decide over its fragments, where no program reads others."""
    found: dict[int, TagComparisons] | None = None
    for program in programs:
        mine = _compared(program, name, guide, strategy)
        found = mine if found is None else _joined(found, mine)
    return found or {}


def _joined(
    found: Mapping[int, TagComparisons], more: Mapping[int, TagComparisons]
) -> dict[int, TagComparisons]:
    return {
        tag: TagComparisons(one.runs + more[tag].runs, one.counted or more[tag].counted)
        for tag, one in found.items()
        if tag in more
    }


def _compared(
    program: Program, name: str, guide: Guide, strategy: str
) -> dict[int, TagComparisons]:
    program = replace(program, body=_counted_nodes(program.body))
    if program.static.collation != CODEPOINT or any(map(_leads_away, program_nodes(program))):
        return {}
    seen = list(_accesses(program))
    found: dict[int, TagComparisons] = {}
    for tag in guide.name:
        mine = [one for one in seen if matches(one.test, guide.name[tag])]
        runs = tuple(_within(one.run, tag, guide) for one in mine)
        if runs and all(runs) and not any(_reads(one, tag, guide) for one in seen):
            found[tag] = TagComparisons(runs, any(one.counted for one in mine))
    if not found:
        return {}
    besides = decide(_without(program), {name: guide}, strategy, links=True).streams.get(name)
    if besides is None or besides.strategy == "caq":
        return {}
    read = besides.full | besides.link
    return {tag: one for tag, one in found.items() if tag not in read}


def _counted_nodes(body: p.Expression) -> p.Expression:
    """What leads to nodes above that are only counted: the nodes that it begins at decide."""
    match body:
        case p.Call(function, (p.Step() as found,)) if (
            function.uri == FN and function.local in _COUNTING
        ):
            at: p.Expression = found
            while isinstance(at, p.Step) and at.axis in _UP:
                at = at.input
            return body if at is found else replace(body, args=(at,))
        case _:
            return body


def _reads(access: _Access, tag: int, guide: Guide) -> bool:
    """Whether it reads fragments of a tag, but for those that are its elements themselves."""

    def has_inside(one: int) -> bool:
        return any(matches(access.test, name) for name in guide.inner.get(one, ()))

    is_named = matches(access.test, guide.name[tag])
    if not access.anywhere:
        above = [t for t, name in guide.name.items() if matches(access.test, name) or has_inside(t)]
        below = guide.below(link.child for one in above for link in guide.links.get(one, ()))
        return has_inside(tag) or tag in below
    if not is_named:
        return has_inside(tag) or tag in guide.below(guide.name.keys() - {tag})
    first = access.run[0].steps[0]
    names = {name[1] for one in guide.around({tag}) for name in _names(one, guide)}
    return bool(guide.links.get(tag)) or first in names


def _names(tag: int, guide: Guide) -> list[tuple[str, str]]:
    """The names of elements below the root of a tag's fragments, and of what fills their holes."""
    links = guide.links.get(tag, ())
    return [*guide.inner.get(tag, ()), *(guide.name[link.child] for link in links)]


def compared_elements(plan: p.Expression) -> tuple[NodeItem, Run] | None:
    """The test and all predicates of a path to elements of a name, if they are comparisons."""
    found = _filtered(plan)
    if found is None or found.anywhere or len(_chain(plan)) != len(found.run):
        return None
    return found.test, found.run


def program_nodes(program: Program) -> Iterator[p.Plan]:
    """All that a program consists of."""
    plans = [program.body, *(one.body for one in program.functions)]
    plans += [one.value for one in program.variables if one.value is not None]
    for plan in plans:
        yield from descendants(plan)


def _leads_away(plan: p.Plan) -> bool:
    """Whether it may lead from an element to others that are not below it."""
    match plan:
        case p.Step(axis=axis):
            return axis not in _DOWN
        case p.Call(function=function) | p.FunctionRef(function=function):
            return function.local in _ELSEWHERE
        case _:
            return isinstance(plan, p.TreeRoot)


def _within(run: Run, tag: int, guide: Guide) -> Run:
    """The comparisons before the first one that reads other fragments."""
    below = guide.below(link.child for link in guide.links.get(tag, ())) - {tag}
    outside = {guide.name[one][1] for one in below}
    cut = next((at for at, one in enumerate(run) if outside & set(one.steps)), len(run))
    return run[:cut]


# -- where a query reads elements and compares them at once ----------------------------------------


@dataclass(frozen=True, slots=True)
class _Access:
    """A step whose elements are compared: its test, and the comparisons.

    `anywhere`: it is a wildcard, which elements inside of fragments pass, too. `counted`: elements
    are counted before they are compared.
    """

    test: NodeItem
    run: Run
    counted: bool = False

    @property
    def anywhere(self) -> bool:
        return self.test.local is None


def _access(step: p.Step, run: Run, *, counted: bool) -> _Access | None:
    """An access, if it is known which elements have what is compared."""
    if step.test.local is None:
        if counted:
            return None
        run = tuple(replace(one, anywhere=True) for one in takewhile(lambda c: c.steps, run))
    return _Access(step.test, run, counted) if run else None


def _accesses(program: Program) -> Iterator[_Access]:
    met: list[_Access] = []
    with_bodies(program, lambda plan: _replaced(plan, met))
    yield from met


def _without(program: Program) -> Program:
    """The program without these accesses: what it reads besides."""
    return with_bodies(program, lambda plan: _replaced(plan, []))


def _replaced(plan: Any, met: list[_Access]) -> Any:
    """The plan with nothing in the place of steps that are compared, which are added to `met`."""

    def put(node: Any) -> Any:
        match node:
            case p.Filter():
                found = _filtered(node)
                if found is None:
                    return map_children(node, put)
                met.append(found)
                return _emptied(node, put)
            case p.Where():
                return _in_tuples(node, met, put)
            case _:
                return map_children(node, put)

    return put(plan)


def _emptied(plan: Any, put: Callable[[Any], Any]) -> Any:
    """Predicates and projections over nothing: what they read besides is still read."""
    match plan:
        case p.Filter():
            return replace(plan, input=_emptied(plan.input, put), predicate=put(plan.predicate))
        case p.IntervalProjection() | p.VersionProjection():
            last = None if plan.last is None else put(plan.last)
            operand = _emptied(plan.operand, put)
            return replace(plan, operand=operand, first=put(plan.first), last=last)
        case _:
            return p.EMPTY


def _filtered(plan: Any) -> _Access | None:
    """Comparisons in predicates, the innermost first."""
    predicates = []
    while isinstance(plan, p.Filter) and not plan.reverse:
        predicates.append(plan.predicate)
        plan = plan.input
    step = _step(plan)
    if step is None:
        return None
    run = run_of(reversed(predicates), lambda base: isinstance(base, p.Focus))
    return _access(step, run, counted=_counts_versions(plan))


def _in_tuples(where: p.Where, met: list[_Access], put: Callable[[Any], Any]) -> Any:
    """Comparisons in the clauses that follow a `for`, behind those in its predicates."""
    tests, source = [where.test], where.source
    while isinstance(source, p.Where):
        tests.append(source.test)
        source = source.source
    found = None if not isinstance(source, p.ForEach) else _iterated(source, tests)
    if found is None or not isinstance(source, p.ForEach):
        return map_children(where, put)
    met.append(found)
    made: Any = replace(source, source=put(source.source), items=_emptied(source.items, put))
    for test in reversed(tests):
        made = p.Where(made, put(test))
    return made


def _iterated(source: p.ForEach, tests: Sequence[p.Expression]) -> _Access | None:
    if source.allowing_empty:
        return None
    inner, counted = _filtered(source.items), source.position is not None
    if inner is not None and counted:
        return inner  # positions count what the predicates leave
    step = _step(source.items) if inner is None else None
    if inner is None and step is None:
        return None

    def is_bound(base: p.Expression) -> bool:
        return isinstance(base, p.Var) and base.variable == source.variable

    run = run_of(reversed(tests), is_bound)
    if inner is not None:
        more = run if len(_chain(source.items)) == len(inner.run) else ()
        if inner.anywhere:
            more = tuple(replace(o, anywhere=True) for o in takewhile(lambda c: c.steps, more))
        return replace(inner, run=inner.run + more)
    assert step is not None
    return _access(step, run, counted=counted or _counts_versions(source.items))


def _chain(plan: Any) -> list[p.Expression]:
    """All conditions of predicates: whether each of them is a comparison."""
    found: list[p.Expression] = []
    while isinstance(plan, p.Filter):
        found += operands(plan.predicate)
        plan = plan.input
    return found


def _step(plan: Any) -> p.Step | None:
    """The step that leads to the elements, through projections that keep what they contain."""
    plan = _projected(plan)
    found, at = plan, plan
    if not isinstance(plan, p.Step) or plan.test.kind != "element":
        return None
    while isinstance(at, p.Step) and at.axis in ("child", "descendant"):
        at = at.input
    return found if isinstance(at, p.StreamInput | p.Var | p.Focus) else None


def _projected(plan: Any) -> Any:
    while isinstance(plan, p.IntervalProjection | p.VersionProjection):
        plan = plan.operand
    return plan


def _counts_versions(plan: Any) -> bool:
    """Whether positions are chosen of the elements that a step leads to."""
    while isinstance(plan, p.IntervalProjection | p.VersionProjection):
        if isinstance(plan, p.VersionProjection):
            return True
        plan = plan.operand
    return False
