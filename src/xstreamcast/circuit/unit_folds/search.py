"""Folds over paths inside units found, and the plan with what is kept in their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.cut import NodePlace, NotDivided, TagCut
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.analysis.guide import structured
from xstreamcast.algebra.analysis.item_kinds import static_type
from xstreamcast.algebra.analysis.stream_usage import needs_of
from xstreamcast.algebra.analysis.timing import timing
from xstreamcast.algebra.nodes.static_type import Kinds
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.walk import bottom_up, descendants, map_children
from xstreamcast.circuit.analysis.locality import Locality
from xstreamcast.circuit.unit_folds.fold import Inner, Keeps, UnitExpression
from xstreamcast.circuit.unit_folds.paths import (
    FirstStep,
    as_stream,
    asks_clock,
    call_of,
    is_plain,
    scoped,
    seen_back,
    unit_tests,
    unused_numbers,
    with_parts,
    without_kept,
)
from xstreamcast.functions.kept import KEPT
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import BOOLEAN
from xstreamcast.model.sequence_type import NodeItem

_KEEPS: Final[dict[str, Keeps]] = {
    "sum": "numbers", "avg": "numbers", "min": "numbers", "max": "numbers",
    "count": "counts", "exists": "counts", "empty": "counts",
}  # fmt: skip
_PATHS: Final = (p.Step, p.Filter, p.Path, p.IntervalProjection)
_TRUE: Final = p.Const((p.Atom(BOOLEAN, True),))
_FALSE: Final = p.Const((p.Atom(BOOLEAN, False),))


def with_kept_folds(
    program: Program, cut: TagCut, readers: Sequence[UnitExpression], taken: p.Expression
) -> list[UnitExpression]:
    """All readers of the units of a stream with folds inside of units kept, where that is exact.

    `taken`: an expression of all variables that are in use.
    """
    return _Input(program, cut, readers, unused_numbers(program, readers, taken)).readers()


class _Input:
    """All readers of one input: what they read of it is made once for all of them."""

    def __init__(
        self,
        program: Program,
        cut: TagCut,
        readers: Sequence[UnitExpression],
        numbers: Iterator[int],
    ) -> None:
        self.program, self.given, self.numbers = program, list(readers), numbers
        self.cut, self.structure = cut, cut.structure

    def readers(self) -> list[UnitExpression]:
        """Readers with what they keep; as they were if one of them must see what others keep."""
        unit = self._unit()
        if unit is None:
            return self.given
        barred: frozenset[int] = frozenset()
        while True:
            made = [self._keeping(reader, unit, barred) for reader in self.given]
            tags = {tag for reader, _ in made for one in reader.inner for tag in one.tags}
            seen = self._seen([lean for _, lean in made]) & tags
            if not seen:
                return [reader for reader, _ in made] if tags else self.given
            barred |= seen

    def _unit(self) -> int | None:
        """The tag of the units that all folds are in."""
        s = self.structure
        spine = self.cut.spine_tags()
        tests = {test for reader in self.given for test in unit_tests(reader)}
        found = {tag.id for test in tests for tag in s.named(test.uri, test.local)}
        if len(found) != 1:
            return None
        unit = found.pop()
        alone = unit != s.root and s.travels(unit) and {t.id for t in s.parents(unit)} <= spine
        return unit if alone else None

    def _keeping(
        self, reader: UnitExpression, unit: int, barred: frozenset[int]
    ) -> tuple[UnitExpression, p.Expression]:
        """The reader, and its expression with nothing where something is kept."""
        search = _Search(self.program, reader, self.cut, unit, barred, self.numbers)
        expression = search.expression()
        if not search.inner:
            return reader, reader.expression
        hidden = {one.values: one for one in search.inner}
        lean: p.Expression = bottom_up(expression, lambda node: without_kept(node, hidden))
        clock = asks_clock([lean])
        made = replace(
            reader, expression=expression, inner=tuple(search.inner), clock=clock,
            timing=timing([lean]) if clock else None,
        )  # fmt: skip
        return made, lean

    def _seen(self, expressions: list[p.Expression]) -> frozenset[int]:
        """The tags whose fragments are read besides what is kept."""
        name = self.given[0].input
        assert name is not None
        guide = structured(self.structure)
        seen: frozenset[int] = frozenset()
        for reader, one in zip(self.given, expressions, strict=True):
            body = bottom_up(one, as_stream(reader.document, name))
            needs = needs_of(replace(self.program, body=body), {name: guide})[name]
            seen |= needs.read(guide)
        return seen


@dataclass(slots=True)
class _Search:
    """One walk over an expression: `inner` are the folds met on the way."""

    program: Program
    reader: UnitExpression
    cut: TagCut
    unit: int
    barred: frozenset[int]
    numbers: Iterator[int]
    inner: list[Inner] = field(default_factory=list)
    units: set[p.Variable] = field(default_factory=set)  # variables bound to units

    def expression(self) -> p.Expression:
        """The expression with what is kept in the place of folds."""
        for node in descendants(self.reader.expression):
            if isinstance(node, p.ForEach) and self._is_unit(node.items):
                self.units.add(node.variable)
        made: p.Expression = self._walk(self._without_lets(), False)
        return made

    def _without_lets(self) -> p.Expression:
        """The expression with paths of units in the place of variables that `let` binds to them."""
        whole = self.reader.expression
        nodes = list(descendants(whole))
        if any(isinstance(node, p.GroupBy | p.ForWindow) for node in nodes):
            return whole
        paths = {
            node.variable: node.value
            for node in nodes
            if isinstance(node, p.Let) and self._is_path(node.value)
        }

        def put(node: p.Plan) -> p.Plan:
            if isinstance(node, p.Let) and node.variable in paths:
                return node.source
            known = isinstance(node, p.Var) and paths.get(node.variable)
            return known or node

        made: p.Expression = bottom_up(whole, put) if paths else whole
        return made

    def _is_path(self, plan: p.Expression) -> bool:
        """Whether a path from a unit gives the same nodes each time."""
        return FirstStep(self.units, False, p.EMPTY).put(plan) is not None and not (
            facts(plan).makes_nodes or any(isinstance(n, p.Return) for n in descendants(plan))
        )

    def _is_unit(self, plan: p.Expression) -> bool:
        """Whether a path leads from the document to elements of units and nowhere else."""
        match plan:
            case p.Filter(input):
                return self._is_unit(input)
            case p.Step(input, "child" | "descendant", test):
                tag = self.cut.structure[self.unit]
                named = test.kind == "element" and test.local == tag.local
                return named and test.uri in (None, tag.uri) and is_plain(input, self.reader)
            case _:
                return False

    def _walk(self, plan: Any, focused: bool) -> Any:
        """The plan with folds replaced; `focused`: the context item is a unit's element."""
        found = self._fold(plan, focused)
        if found is not None:
            return found
        match plan:
            case p.Filter(input, predicate):
                inside = self._truth(predicate, self._is_unit(input))
                return with_parts(plan, input=self._walk(input, focused), predicate=inside)
            case p.Path(left, right) | p.SimpleMap(left, right):
                inside = self._walk(right, self._is_unit(left))
                return with_parts(plan, left=self._walk(left, focused), right=inside)
            case p.Inline():
                return plan
            case _:
                return map_children(plan, lambda child: self._walk(child, focused))

    def _fold(self, plan: Any, focused: bool) -> Any:
        match plan:
            case p.Call(function, (operand,)) if function.uri == FN and function.local in _KEEPS:
                return self._kept(plan, operand, function.local, focused)
            case p.Quantified("some", source, test):
                hits = p.Return(p.Where(source, test), _TRUE, span=plan.span)
                return self._kept(plan, hits, "exists", focused)
            case p.Quantified("every", source, test):
                hits = p.Return(p.Where(source, p.If(test, _FALSE, _TRUE)), _TRUE, span=plan.span)
                return self._kept(plan, hits, "empty", focused)
            case p.GeneralCompare(_, left, p.Const()):
                each = p.Variable(next(self.numbers), "each")
                hit = replace(plan, left=p.Var(each))
                source = p.Where(p.ForEach(p.Unit(), each, left), hit)
                return self._kept(plan, p.Return(source, _TRUE), "exists", focused)
            case p.Where(source, test):
                changed = self._truth(test, focused)
                return with_parts(plan, source=self._walk(source, focused), test=changed)
            case p.If(test, then, otherwise):
                return with_parts(
                    plan, test=self._truth(test, focused), then=self._walk(then, focused),
                    otherwise=self._walk(otherwise, focused),
                )  # fmt: skip
            case p.And(operands) | p.Or(operands):
                return with_parts(plan, operands=tuple(self._truth(o, focused) for o in operands))
            case p.Call(function, (operand,)) if function.uri == FN and function.local in (
                "not",
                "boolean",
            ):
                return with_parts(plan, args=(self._truth(operand, focused),))
            case _:
                return None

    def _truth(self, plan: p.Expression, focused: bool) -> p.Expression:
        """Where only the truth of a value counts: whether a path leads anywhere."""
        if isinstance(plan, _PATHS) and static_type(plan).only(Kinds.NODE):
            found = self._kept(plan, plan, "exists", focused)
            if found is not None:
                return found
        out: p.Expression = self._walk(plan, focused)
        return out

    def _kept(
        self, plan: p.Expression, operand: p.Expression, name: str, focused: bool
    ) -> p.Expression | None:
        """What is kept in the place of name(operand); None if it cannot be."""
        child = p.Variable(next(self.numbers), "child")
        head = FirstStep(self.units, focused, p.Var(child))
        inside = head.put(operand)
        if inside is None or head.test is None or head.origin is None:
            return None
        tags = self._tags(head.test)
        call = call_of(name, inside)
        clock = self._local(inside, child) if tags else None
        if clock is None:
            return None
        when = timing([call]) if clock else None
        if clock and when is None:
            return None
        roots, counts, values = (
            p.Variable(next(self.numbers), word) for word in ("roots", "counts", "values")
        )
        keeps = _KEEPS[name]
        self.inner.append(
            Inner(self.unit, tags, child, inside, keeps, roots, counts, values, clock, when,
                  self._shown(plan), seen_back(inside, child))
        )  # fmt: skip
        kept = p.Call(KEPT, (head.origin, p.Var(roots), p.Var(counts), p.Var(values)))
        return replace(call_of("sum" if name == "count" else name, kept), span=plan.span)

    def _shown(self, plan: p.Expression) -> str:
        first, last = plan.span
        return " ".join(self.program.source.text[first:last].split())

    def _tags(self, test: NodeItem) -> frozenset[int]:
        """The tags that a child must have to pass; none if it may be elsewhere as well."""
        if test.kind != "element" or test.local is None:
            return frozenset()
        s = self.cut.structure
        named = s.named(test.uri, test.local)
        alone = all(
            s.travels(tag.id) and [q.id for q in s.parents(tag.id)] == [self.unit] for tag in named
        )
        found = frozenset(tag.id for tag in named)
        return found if named and alone and not found & self.barred else frozenset()

    def _local(self, plan: p.Expression, child: p.Variable) -> bool | None:
        """Whether it asks what time it is; None unless it reads nothing but the child."""
        known = facts(plan)
        outside = known.free - {child} - {v.variable for v in self.program.variables}
        if outside or known.reads_focus or not known.pure or scoped(plan):
            return None
        walk = Locality(self.program, self.reader.input, self.cut, {child: NodePlace(inside=True)})
        try:
            place = walk.drive(plan, None)
        except NotDivided:
            return None
        return None if walk.others or walk.guards or place.spine is not None else walk.clock
