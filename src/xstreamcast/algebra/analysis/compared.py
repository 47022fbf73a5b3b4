"""Which fragments a query sees only where comparisons of values inside of them hold.

//event[severity >= 4]                     →  of events, those with a severity of 4 or more
for $e in //event where $e/@id = "x" …     →  of events, those with that id

Of other fragments of such a tag the query sees nothing but that they are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.places import matches
from xstreamcast.algebra.analysis.strategies import decide
from xstreamcast.algebra.analysis.stream_usage import AROUND
from xstreamcast.algebra.program import with_bodies
from xstreamcast.algebra.walk import descendants, map_children
from xstreamcast.errors import Error
from xstreamcast.functions.call import CODEPOINT
from xstreamcast.functions.cast import cast_value
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.sequence_type import AtomicItem

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.guide import Guide
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.sequence_type import NodeItem

_DOWN: Final = frozenset({"child", "descendant", "descendant-or-self", "self", "attribute"})
_ELSEWHERE: Final = AROUND | {"generate-id", "function-lookup", "load-xquery-module"}
_LIFESPAN: Final = frozenset({"vtFrom", "vtTo"})  # attributes that no payload has
_MIRRORED: Final[dict[p.CompareOp, p.CompareOp]] = {
    "eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PathComparison:
    """A path below an element compared with constants; `general`: as = and < do, not eq and lt."""

    steps: tuple[str, ...]  # local names; a reader of all namespaces sees no less
    attribute: str | None
    op: p.CompareOp
    atoms: tuple[p.Atom, ...]
    general: bool


_IsBase: TypeAlias = Callable[[p.Expression], bool]
Run: TypeAlias = tuple[
    PathComparison, ...
]  # evaluated in this order, each where all before it hold


def compared_tags(
    programs: Sequence[Program], name: str, guide: Guide, strategy: str
) -> dict[int, tuple[Run, ...]]:
    """By tag: the runs of comparisons of which one must hold for a fragment to be seen."""
    found: dict[int, tuple[Run, ...]] | None = None
    for program in programs:
        mine = _compared(program, name, guide, strategy)
        both = mine if found is None else {t: found[t] + mine[t] for t in found if t in mine}
        found = both
    return found or {}


def _compared(
    program: Program, name: str, guide: Guide, strategy: str
) -> dict[int, tuple[Run, ...]]:
    if program.static.collation != CODEPOINT or any(map(_leads_away, _nodes(program))):
        return {}
    seen = list(_accesses(program))
    found: dict[int, tuple[Run, ...]] = {}
    for tag in guide.name:
        mine = [one for one in seen if matches(one.test, guide.name[tag])]
        runs = tuple(_within(one.run, tag, guide) for one in mine)
        if runs and all(runs) and _is_apart(tag, guide):
            found[tag] = runs
    if not found:
        return {}
    besides = decide(_without(program), {name: guide}, strategy, links=True).streams.get(name)
    if besides is None or besides.strategy == "caq":
        return {}
    read = besides.full | besides.link
    return {tag: runs for tag, runs in found.items() if tag not in read}


def _nodes(program: Program) -> Iterator[p.Plan]:
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
            return isinstance(plan, p.Root)


def _is_apart(tag: int, guide: Guide) -> bool:
    """Whether elements of its name in its fragments are their roots alone."""
    below = guide.below(link.child for link in guide.links.get(tag, ()))
    return tag not in below and guide.name[tag] not in guide.inner.get(tag, ())


def _within(run: Run, tag: int, guide: Guide) -> Run:
    """The comparisons before the first one that reads other fragments."""
    below = guide.below(link.child for link in guide.links.get(tag, ())) - {tag}
    outside = {guide.name[one][1] for one in below}
    cut = next((at for at, one in enumerate(run) if outside & set(one.steps)), len(run))
    return run[:cut]


# -- where a query reads elements and compares them at once ----------------------------------------


@dataclass(frozen=True, slots=True)
class _Access:
    """A step whose elements are compared: its test, and the comparisons."""

    test: NodeItem
    run: Run


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
    run = _run(reversed(predicates), lambda base: isinstance(base, p.Focus))
    return _Access(step.test, run) if run else None


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
    inner = _filtered(source.items)
    if inner is not None and source.position is not None:
        return inner  # positions count what the predicates leave
    step = _step(source.items) if inner is None else None
    if inner is None and step is None:
        return None

    def is_bound(base: p.Expression) -> bool:
        return isinstance(base, p.Var) and base.variable == source.variable

    run = _run(reversed(tests), is_bound)
    if inner is not None:
        more = run if len(_chain(source.items)) == len(inner.run) else ()
        return _Access(inner.test, inner.run + more)
    assert step is not None
    return _Access(step.test, run) if run else None


def _chain(plan: Any) -> list[p.Expression]:
    """All conditions of predicates: whether each of them is a comparison."""
    found: list[p.Expression] = []
    while isinstance(plan, p.Filter):
        found += _operands(plan.predicate)
        plan = plan.input
    return found


def _step(plan: Any) -> p.Step | None:
    """The step that leads to the elements, through projections that keep what they contain."""
    while isinstance(plan, p.IntervalProjection | p.VersionProjection):
        plan = plan.operand
    found, at = plan, plan
    if not isinstance(plan, p.Step) or plan.test.kind != "element" or plan.test.local is None:
        return None
    while isinstance(at, p.Step) and at.axis in ("child", "descendant"):
        at = at.input
    return found if isinstance(at, p.StreamInput | p.Var | p.Focus) else None


# -- comparisons -----------------------------------------------------------------------------------


def _operands(test: p.Expression) -> list[p.Expression]:
    return (
        [t for one in test.operands for t in _operands(one)] if isinstance(test, p.And) else [test]
    )


def _run(tests: Iterable[p.Expression], is_base: _IsBase) -> Run:
    """The comparisons before anything else."""
    found: list[PathComparison] = []
    for test in (one for all_ in tests for one in _operands(all_)):
        made = _comparison(test, is_base)
        if made is None:
            break
        found.append(made)
    return tuple(found)


def _comparison(test: p.Expression, is_base: _IsBase) -> PathComparison | None:
    if not isinstance(test, p.GeneralCompare | p.ValueCompare):
        return None
    general = isinstance(test, p.GeneralCompare)
    for path, other, op in (
        (test.left, test.right, test.op),
        (test.right, test.left, _MIRRORED[test.op]),
    ):
        steps, atoms = _path(path, is_base), _atoms(other)
        if steps is not None and atoms is not None:
            return PathComparison(steps[0], steps[1], op, atoms, general)
    return None


def _path(plan: Any, is_base: _IsBase) -> tuple[tuple[str, ...], str | None] | None:
    """Names of children, and of an attribute, from the element down."""
    attribute, steps = None, list[str]()
    if isinstance(plan, p.Step) and plan.axis == "attribute":
        if (
            plan.test.local is None
            or plan.test.local in _LIFESPAN
            or plan.test.type_tag is not None
        ):
            return None
        attribute, plan = plan.test.local, plan.input
    while isinstance(plan, p.Step) and plan.axis == "child":
        if plan.test.kind != "element" or plan.test.local is None or plan.test.type_tag is not None:
            return None
        steps.append(plan.test.local)
        plan = plan.input
    if not is_base(plan) or (attribute is None and not steps):
        return None
    return tuple(reversed(steps)), attribute


def _atoms(plan: Any) -> tuple[p.Atom, ...] | None:
    """The values of constants."""
    match plan:
        case p.Const(atoms):
            return atoms
        case p.Comma():
            parts = [_atoms(one) for one in plan.parts]
            return None if None in parts else tuple(a for part in parts if part for a in part)
        case p.Cast(p.Const((atom,)), AtomicItem() as target):
            return _cast(atom, target)
        case _:
            return None


def _cast(atom: p.Atom, target: AtomicItem) -> tuple[p.Atom, ...] | None:
    try:
        return (p.Atom(target.tag, cast_value(atom.tag, atom.value, target.tag)),)
    except Error:
        return None  # its evaluation reports the error
