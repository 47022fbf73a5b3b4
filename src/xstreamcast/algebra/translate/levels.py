"""Path steps guided by the tag structure: which tags each level of a path passes.

e/a    ->  e/a                     if a is embedded
e/a    ->  get_fillers(e/hole)/a   if a travels
e//a   ->  e/x/y/a                 if a is at one depth below e
"""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra.translate import words as w
from xstreamcast.algebra.translate.naming import Naming
from xstreamcast.algebra.translate.shapes import Shape
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.structure import Tag, TagStructure
from xstreamcast.syntax import tree as t

_DESCENDANTS = t.AxisStep("descendant-or-self", t.AnyKindTest())


@dataclass(frozen=True, slots=True)
class Level:
    """One step down: to elements of these tags; `step` is the query's own step, if it wrote one."""

    tags: tuple[Tag, ...]
    step: t.AxisStep | None = None

    @property
    def ids(self) -> frozenset[int]:
        return frozenset(tag.id for tag in self.tags)

    @property
    def predicates(self) -> tuple[t.Expr, ...]:
        return self.step.predicates if self.step else ()


def levels(shape: Shape, steps: tuple[t.Expr, ...], naming: Naming) -> tuple[list[Level], int]:
    """The levels that the steps pass one after another, and how many steps are covered so."""
    found: list[Level] = []
    taken = 0
    while taken < len(steps) and shape.has_holes():
        jump = steps[taken] == _DESCENDANTS and taken + 1 < len(steps)
        step = steps[taken + 1] if jump else steps[taken]
        if not isinstance(step, t.AxisStep) or step.axis != "child":
            break
        more = _below(shape, step, naming) if jump else _children(shape, step, naming)
        if more is None:
            break
        found += more
        taken += 2 if jump else 1
        shape = down(shape, more[-1])
    return found, taken


def down(shape: Shape, level: Level) -> Shape:
    """What a level gives."""
    return replace(shape, tags=level.ids, document=False, one=False)


def _children(shape: Shape, step: t.AxisStep, naming: Naming) -> list[Level] | None:
    matched = [tag for tag in shape.children() if naming.matches(step.test, tag)]
    return [Level(tuple(matched), step)] if matched else None


def _below(shape: Shape, step: t.AxisStep, naming: Naming) -> list[Level] | None:
    """The levels down to the elements that the step means, if all are at one depth."""
    structure = shape.structure
    assert structure is not None
    wanted = {tag.id for tag in structure.tags.values() if naming.matches(step.test, tag)}
    found: list[Level] = []
    here = shape.children()
    while here and len(found) <= len(structure.tags):
        ids = {tag.id for tag in here}
        below = [structure[c] for c in sorted({c for tag in here for c in tag.children})]
        onward = [tag for tag in below if structure.below(tag.id) & wanted]
        if ids & wanted:
            last = tuple(tag for tag in here if tag.id in wanted)
            return None if onward else [*found, Level(last, step)]
        leading = tuple(tag for tag in here if structure.below(tag.id) & wanted)
        found.append(Level(leading))
        here = [tag for tag in onward if any(tag.id in one.children for one in leading)]
    return None


def child(level: Level, shape: Shape, predicates: tuple[t.Expr, ...], naming: Naming) -> t.Expr:
    """The children of the context item at this level."""
    structure = shape.structure
    assert structure is not None
    history = w.history(shape.stream)
    if shape.document:
        return filtered(w.call("get_fillers", history, w.roots(shape.stream)), predicates)
    filled = [tag.id for tag in level.tags if structure.travels(tag.id)]
    if len(filled) == len(level.tags):
        return filtered(w.call("get_fillers", history, w.holes(filled)), predicates)
    tests = [t.AxisStep("self", test) for test in _tests(level, structure, naming)]
    if filled and _is_any(level):
        return filtered(w.call("fill", history, t.AxisStep("child", t.AnyName())), predicates)
    if filled:
        tests.append(replace(w.holes(filled), axis="self"))
        either = t.AxisStep("child", t.AnyName(), (t.OrExpr(tuple(tests)),))
        return filtered(w.call("fill", history, either), predicates)
    if len(tests) == 1:
        return t.AxisStep("child", tests[0].test, predicates)
    return t.AxisStep("child", t.AnyName(), (t.OrExpr(tuple(tests)), *predicates))


def _is_any(level: Level) -> bool:
    return level.step is not None and isinstance(level.step.test, t.AnyName)


def _tests(level: Level, structure: TagStructure, naming: Naming) -> list[t.NodeTest]:
    if level.step is not None:
        return [level.step.test]
    return [naming.test(tag) for tag in level.tags if not structure.travels(tag.id)]


def filtered(inner: t.Expr, predicates: tuple[t.Expr, ...]) -> t.Expr:
    """`inner[p][q]`."""
    return t.FilterExpr(inner, predicates) if predicates else inner
