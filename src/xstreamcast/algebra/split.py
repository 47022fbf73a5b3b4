"""A program divided: what is computed unit by unit, and what follows from that.

body  →  rest, with a variable in the place of each part; a part's value is folded from its units.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.around import counted_around
from xstreamcast.algebra.cut import ELSEWHERE, Cut, DepthCut, NotDivided
from xstreamcast.algebra.division import (
    FOLDS,
    Division,
    Grouped,
    Listed,
    Part,
    Reason,
    Shape,
    Sorted,
)
from xstreamcast.algebra.free import facts, free_numbers
from xstreamcast.algebra.inputs import inlined, inputs_of, mentioned
from xstreamcast.algebra.leading import hoisted, limit, stays_below
from xstreamcast.algebra.locality import ABOVE, Locality
from xstreamcast.algebra.over import gathering, over
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.shapes import plans_of
from xstreamcast.algebra.timing import asks_clock, timing
from xstreamcast.algebra.walk import STREAMS, bottom_up, descendants, map_children
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import BOOLEAN

DEEPEST_CUT: Final = 6
_TRUE: Final = p.Const((p.Atom(BOOLEAN, True),))
_FALSE: Final = p.Const((p.Atom(BOOLEAN, False),))
_FAILING: Final = (
    p.Arithmetic, p.Unary, p.Range, p.GeneralCompare, p.ValueCompare, p.Cast, p.Convert, p.Treat,
    p.DynamicCall,
)  # fmt: skip
_UNFAILING: Final = {(FN, name) for name in ("count", "exists", "empty", "distinct-values")}


def divide(program: Program, cuts: Mapping[str | None, Cut]) -> Division:
    """The program divided at the cuts of its inputs; an input without a cut is read whole."""
    body = hoisted(inlined(program))
    return _Splitting(program, cuts, free_numbers(program, [body])).division(body)


def deepest(
    program: Program, cuts: Mapping[str | None, Cut], documents: frozenset[str | None]
) -> Division:
    """The division with each document cut as deep as it still divides as well.

    `deeper` of it are cuts that hold if names occur only where units are; else those are units too.
    """
    tried = [
        divide(program, {**cuts, **{name: DepthCut(depth) for name in documents}})
        for depth in range(2, (DEEPEST_CUT if documents else 2) + 1)
    ]
    same = [one for one in tried if _shape(one) == _shape(tried[0])]
    free = [one for one in same if not any(part.guards for part in one.parts)]
    if not tried[0].parts:
        return tried[0]  # whose reasons are not that it was cut too deep
    best = free[-1] if free else same[0]
    return replace(best, deeper=tuple(one for one in same if tried.index(one) >= tried.index(best)))


def _shape(division: Division) -> list[object]:
    found: list[object] = [(one.input, one.fold, one.shape) for one in division.parts]
    return [*found, division.whole]


class _Splitting:
    """One walk from the body down: the largest expressions that can be driven become parts."""

    def __init__(
        self, program: Program, cuts: Mapping[str | None, Cut], numbers: Iterator[int]
    ) -> None:
        self.program, self.cuts, self.numbers = program, cuts, numbers
        self.globals = frozenset(v.variable for v in program.variables)
        self.parts: list[Part] = []
        self.reasons: list[Reason] = []

    def division(self, body: p.Expression) -> Division:
        if self.program.settings.sequential:
            self.reasons.append(Reason("a sequential program is computed whole", (0, 0)))
            return self._whole(body)
        rest = self.split(body, focus=True)
        rest = bottom_up(rest, self._folded)
        left = mentioned(rest, focus=True)
        if left or not self.parts:
            return self._whole(body)
        self.parts = [_limited(one, rest) for one in self.parts]
        if any(_navigates(rest, one) for one in self.parts):
            self.reasons.append(Reason("what follows walks over nodes of several units", (0, 0)))
            return self._whole(body)
        plain = len(self.parts) == 1 and rest == p.Var(self.parts[0].variable)
        for one in self.parts:
            told = plain and one.fold == "items"
            if not (isinstance(one.shape, Listed) or told):
                self.reasons.append(Reason("something follows after sorting or grouping", (0, 0)))
                return self._whole(body)
        reads = {name for one in self.parts for name in one.others}
        driven = {one.input for one in self.parts if isinstance(self.cuts[one.input], DepthCut)}
        if driven & reads:
            self.reasons.append(Reason("a document is read by its units and whole", (0, 0)))
            return self._whole(body)
        clock = asks_clock(rest)
        return Division(
            tuple(self.parts), rest, frozenset(reads), tuple(self.reasons), self.cuts, clock
        )

    def _whole(self, body: p.Expression) -> Division:
        clock = asks_clock(body) or any(asks_clock(f.body) for f in self.program.functions)
        reasons = tuple(dict.fromkeys(self.reasons)) or (
            Reason("it reads no input that is cut", (0, 0)),
        )
        return Division((), body, inputs_of(self.program), reasons, self.cuts, clock)

    def split(self, plan: Any, focus: bool) -> Any:
        """The plan with variables in the place of what can be driven."""
        if type(plan) in STREAMS:
            return map_children(plan, lambda child: self.split(child, focus))
        names = mentioned(plan, focus)
        if not names:
            return plan
        if self._closed(plan, focus):
            for name in sorted(names & set(self.cuts), key=str):
                part = self._part(plan, name) or self._around(plan, name)
                if part is not None:
                    self.parts.append(part)
                    return p.Var(part.variable)
        match plan:
            case p.Quantified(kind, source, test) if self._closed(plan, focus):
                return self._quantified(plan, kind == "some", source, test, focus)
            case p.Path(left, right) | p.SimpleMap(left, right):
                return replace(plan, left=self.split(left, focus), right=self.split(right, False))
            case p.Filter(input, predicate):
                changed = self.split(predicate, False)
                return replace(plan, input=self.split(input, focus), predicate=changed)
            case p.Inline() | p.Try():  # an error of a part that stands outside is not caught
                return plan
            case p.If(test, then, otherwise) if _may_fail(then) or _may_fail(otherwise):
                return replace(plan, test=self.split(test, focus))
            case p.Switch() | p.TypeSwitch() if _may_fail(plan):
                return plan
            case _:
                return map_children(plan, lambda child: self.split(child, focus))

    def _closed(self, plan: p.Plan, focus: bool) -> bool:
        known = facts(plan)
        return known.free <= self.globals and (focus or not known.reads_focus) and known.pure

    def _quantified(
        self, plan: p.Plan, some: bool, source: p.Tuples, test: p.Expression, focus: bool
    ) -> p.Plan:
        """some … satisfies t  →  exists(… where t); every … → empty(… where not t)."""
        sought = test if some else p.If(test, _FALSE, _TRUE)
        hits = p.Return(p.Where(source, sought), _TRUE, span=test.span)
        before = len(self.parts)
        found = self.split(hits, focus)
        if isinstance(found, p.Var) and len(self.parts) == before + 1:
            self.parts[-1] = replace(self.parts[-1], fold="exists" if some else "empty")
            return found
        del self.parts[before:]
        return map_children(plan, lambda child: self.split(child, focus))

    def _part(self, plan: p.Expression, name: str | None) -> Part | None:
        """The part that an expression makes; the reason is noted if it makes none."""
        for attempt in (self._listed, self._sorted, self._grouped):
            walk = Locality(self.program, name, self.cuts[name])
            try:
                shape = attempt(plan, walk)
            except NotDivided as caught:
                if attempt == self._listed:
                    self.reasons.append(Reason(caught.reason, caught.span))
                continue
            if shape is not None and not (walk.held and walk.others):
                if attempt != self._listed:
                    self.reasons.pop()
                return self._made(name, shape, walk)
        return None

    def _around(self, plan: p.Expression, name: str | None) -> Part | None:
        """A count of nodes that stand around units."""
        found = counted_around(plan, self.program, name, self.cuts)
        if found is None:
            return None
        self.reasons.pop()
        made = self._made(name, Listed(found.nodes), found.walk)
        return replace(made, fold=found.fold, around=found.around)  # type: ignore[arg-type]

    def _made(self, name: str | None, shape: Shape, walk: Locality) -> Part:
        variable = p.Variable(next(self.numbers), "part")
        document = p.Variable(next(self.numbers), name or "input")
        unit = over(shape, name, p.Var(document))
        others = frozenset(walk.others)
        alone = walk.clock and not walk.others  # others have instants of their own
        return Part(
            variable, document, name, unit, "items", others, frozenset(walk.guards), walk.clock,
            timing(plans_of(unit)) if alone else None, held=frozenset(walk.held),
        )  # fmt: skip

    def _listed(self, plan: p.Expression, walk: Locality) -> Shape:
        walk.driven(plan)
        return Listed(plan)

    def _sorted(self, plan: p.Expression, walk: Locality) -> Shape | None:
        found = gathering(plan, p.OrderBy)
        if found is None:
            return None
        order, result = found
        assert isinstance(order, p.OrderBy)
        self._inside(order.source, walk)
        walk.values([key.value for key in order.keys], None)
        walk.value(result, None)
        return Sorted(order.source, order.keys, result)

    def _grouped(self, plan: p.Expression, walk: Locality) -> Shape | None:
        found = gathering(plan, p.GroupBy)
        if found is None:
            return None
        group, result = found
        assert isinstance(group, p.GroupBy)
        self._inside(group.source, walk)
        walk.values([key.value for key in group.keys], None)
        for before, after in group.carried:
            walk.places[after] = walk.places.get(before, ELSEWHERE)
        walk.value(result, None)
        return Grouped(group.source, group, result)

    def _inside(self, tuples: p.Tuples, walk: Locality) -> None:
        focus = None if walk.input is not None else walk.cut.document()
        if not walk.drive_tuples(tuples, focus):
            raise NotDivided("it reads nothing that stands in units", (0, 0))

    def _folded(self, node: p.Plan) -> p.Plan:
        """f(part)  →  a part folded by f."""
        match node:
            case p.Call(function, (p.Var(variable),)) if (
                function.uri == FN and function.local in FOLDS
            ):
                for at, part in enumerate(self.parts):
                    if part.variable == variable and part.fold == "items":
                        self.parts[at] = replace(part, fold=function.local)  # type: ignore[arg-type]
                        return p.Var(variable)
        return node


def _may_fail(plan: p.Expression) -> bool:
    """Whether it may raise an error, so that it must not be asked where its branch is not taken."""
    return facts(plan).calls or any(
        isinstance(one, _FAILING)
        or (isinstance(one, p.Call) and (one.function.uri, one.function.local) not in _UNFAILING)
        for one in descendants(plan)
    )


def _limited(part: Part, rest: p.Expression) -> Part:
    """A part of which only the first items decide, where the rest says so."""
    listed = part.fold == "items" and isinstance(part.shape, Listed)
    return replace(part, limit=limit(rest, part.variable)) if listed else part


def _navigates(rest: p.Expression, part: Part) -> bool:
    if part.limit is not None and stays_below(rest):
        return False  # these are kept in the order of their units
    return part.fold == "items" and _walks(rest, frozenset({part.variable}))


def _walks(plan: p.Expression, variables: frozenset[p.Variable]) -> bool:
    """Whether a plan may walk over nodes of the variables, or ask for their order or identity."""
    if not facts(plan).used & variables:
        return False
    asked = (p.Step, p.Path, p.SetOperation, p.NodeCompare, p.UserCall, p.DynamicCall, p.Root)
    return any(
        isinstance(node, asked) or (isinstance(node, p.Call) and node.function.local in ABOVE)
        for node in descendants(plan)
    )
