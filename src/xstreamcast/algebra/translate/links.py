"""QaC+: levels that are not read are passed from hole to filler, without reading what they hold.

get_fillers(get_fillers(e/hole)/x/hole)/a  ->  get_fillers(holes_below(e/hole, "a"))
"""

from __future__ import annotations

from xstreamcast.algebra.translate import words as w
from xstreamcast.algebra.translate.levels import Level
from xstreamcast.algebra.translate.naming import Naming
from xstreamcast.algebra.translate.parts import everything
from xstreamcast.algebra.translate.shapes import Shape
from xstreamcast.model.structure import TagStructure
from xstreamcast.syntax import tree as t

_TRUTHS = frozenset(
    ("not", "exists", "empty", "boolean", "contains", "starts-with", "ends-with", "matches")
)


def passed(found: list[Level], shape: Shape) -> int:
    """How many of the levels can be reached by links alone; the last of them is read."""
    structure = shape.structure
    assert structure is not None
    best = 0
    for number, level in enumerate(found):
        if not (_one_place(level, structure) and _alike(level, structure)):
            break
        if _travels(level, structure) and all(_is_truth(p) for p in level.predicates):
            best = number + 1
        if level.predicates:
            break
    return best if best > 1 else 0


def linked(found: list[Level], shape: Shape, naming: Naming) -> t.Expr:
    """The holes for the last level: of the context item, then of what fills them, and so on."""
    structure = shape.structure
    assert structure is not None
    history = w.history(shape.stream)
    travelling = [level for level in found if _travels(level, structure)]
    holes: t.Expr
    if shape.document:
        holes = w.roots(shape.stream)
    else:
        first = found.index(travelling[0])
        steps = [_embedded(level, naming) for level in found[:first]]
        last = w.holes(travelling[0].ids)
        holes = t.PathExpr(False, (*steps, last)) if steps else last
    for level in travelling[1:]:
        holes = w.call("holes_below", history, holes, w.tag_list(level.ids))
    return holes


def _embedded(level: Level, naming: Naming) -> t.AxisStep:
    tests = tuple(t.AxisStep("self", naming.test(tag)) for tag in level.tags)
    if len(tests) == 1:
        return t.AxisStep("child", tests[0].test)
    return t.AxisStep("child", t.AnyName(), (t.OrExpr(tests),))


def _travels(level: Level, structure: TagStructure) -> bool:
    return all(structure.travels(tag.id) for tag in level.tags)


def _alike(level: Level, structure: TagStructure) -> bool:
    return len({structure.travels(tag.id) for tag in level.tags}) == 1


def _one_place(level: Level, structure: TagStructure) -> bool:
    """A hole of the tag can be at one place of a fragment only."""
    return all(
        tag.id == structure.root or len(list(structure.parents(tag.id))) == 1 for tag in level.tags
    )


def _is_truth(predicate: t.Expr) -> bool:
    """Is it surely no number, and does it not ask for positions?"""
    for node in everything(predicate):
        if isinstance(node, t.FunctionCall) and node.name.local in ("position", "last"):
            return False
    match predicate:
        case (
            t.ComparisonExpr()
            | t.AndExpr()
            | t.OrExpr()
            | t.QuantifiedExpr()
            | t.IntervalComparison()
        ):
            return True
        case t.AxisStep() | t.PathExpr(_, (*_, t.AxisStep())):
            return True
        case t.FunctionCall(name):
            return name.local in _TRUTHS
        case _:
            return False
