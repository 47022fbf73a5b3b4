"""Paths, as far as the tag structure guides them; the rest is taken over what is materialised."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xstreamcast.algebra.translate import words as w
from xstreamcast.algebra.translate.levels import Level, child, down, levels
from xstreamcast.algebra.translate.levels import filtered as kept
from xstreamcast.algebra.translate.links import linked, passed
from xstreamcast.algebra.translate.parts import everything, rebuilt
from xstreamcast.algebra.translate.scope import ShapeScope
from xstreamcast.algebra.translate.shapes import LOOSE, PLAIN, Shape, Uncovered, whole
from xstreamcast.syntax import tree as t

if TYPE_CHECKING:
    from xstreamcast.algebra.translate.expressions import Translated, Translator


def path(
    do: Translator, found: t.PathExpr | t.AxisStep | t.SimpleMapExpr, scope: ShapeScope
) -> Translated:
    """A path, a step from the context item, or `left ! right`."""
    match found:
        case t.SimpleMapExpr(left, right):
            return _mapped(do, found, left, right, scope)
        case t.AxisStep():
            return _walk(do, None, scope.focus, (found,), scope)
        case t.PathExpr(True, steps):
            made = _native(do, steps, PLAIN, scope)
            if ends := scope.ends_around(None):
                return _joined((w.standard("root", w.reached(w.HERE, ends)), *made)), PLAIN
            return replace(found, steps=made), PLAIN
        case t.PathExpr(_, (t.AxisStep(), *_) as steps):
            return _walk(do, None, scope.focus, steps, scope)
        case t.PathExpr(_, (first, *rest)):
            base, shape = do.expression(first, scope)
            if shape == PLAIN and _copies(first):
                inner = _native(do, tuple(rest), PLAIN, scope)
                return t.SimpleMapExpr(base, _joined(inner)), PLAIN
            return _walk(do, base, shape, tuple(rest), scope)
        case _:
            return found, PLAIN


def filtered(
    do: Translator, base: t.Expr, predicates: tuple[t.Expr, ...], scope: ShapeScope
) -> Translated:
    """`base[p][q]`."""
    made, shape = do.expression(base, scope)
    if shape.document:
        shape = whole(one=True)
    inner = scope.at(shape)
    given = tuple(do.expression(one, inner)[0] for one in predicates)
    return t.FilterExpr(made, given), shape


def _copies(found: t.Expr) -> bool:
    """Trees of their own, whose order is that of the sequence: steps must not sort them."""
    if isinstance(found, t.FilterExpr):
        return _copies(found.base)
    return isinstance(found, t.IntervalProjectionExpr | t.VersionProjectionExpr)


def _mapped(
    do: Translator, found: t.SimpleMapExpr, left: t.Expr, right: t.Expr, scope: ShapeScope
) -> Translated:
    made, shape = do.expression(left, scope)
    inner, given = do.expression(right, scope.at(shape))
    from xstreamcast.algebra.translate.expressions import settle

    return replace(found, left=made, right=settle(inner, given)), PLAIN if given == PLAIN else LOOSE


def _walk(
    do: Translator, base: t.Expr | None, shape: Shape, steps: tuple[t.Expr, ...], scope: ShapeScope
) -> Translated:
    """From `base` (None: the context item) down the steps."""
    if base is None and (ends := scope.ends_around(None)):
        base = w.reached(w.HERE, ends)
    if shape == PLAIN:
        made = _native(do, steps, PLAIN, scope)
        return _joined(made if base is None else (base, *made)), PLAIN
    if not shape.walkable():
        raise Uncovered("steps from nodes in no certain order")
    found, taken = levels(shape, steps, do.naming)
    while found:
        base, shape, found = _down(do, base, shape, found, scope)
    rest = steps[taken:]
    if not rest:
        assert base is not None
        return base, shape
    return _rest(do, base, shape, rest, scope)


def _down(
    do: Translator, base: t.Expr | None, shape: Shape, found: list[Level], scope: ShapeScope
) -> tuple[t.Expr, Shape, list[Level]]:
    """The next level, or several by links alone."""
    count = passed(found, shape) if do.links else 0
    last = found[max(count - 1, 0)]
    below = down(shape, last)
    inner = scope.at(below)
    predicates = tuple(do.expression(one, inner)[0] for one in last.predicates)
    if count:
        holes = linked(found[:count], shape, do.naming)
        if base is not None and not shape.document:
            holes = _linked_from(base, holes)
        made = kept(w.call("get_fillers", w.history(shape.stream), holes), predicates)
        return made, below, found[count:]
    step = child(last, shape, predicates, do.naming)
    made = step if base is None or shape.document else _below(base, shape, step)
    return made, below, found[1:]


def _below(base: t.Expr, shape: Shape, step: t.Expr) -> t.Expr:
    """What is below each item of `base`, in their order; a slash would sort."""
    if shape.one and isinstance(base, t.VarRef) and isinstance(step, t.AxisStep | t.PathExpr):
        return t.PathExpr(False, (base, *(step.steps if isinstance(step, t.PathExpr) else (step,))))
    return t.SimpleMapExpr(base, step)


def _linked_from(base: t.Expr, holes: t.Expr) -> t.Expr:
    """The innermost holes are those of `base`, not of the context item."""
    if isinstance(holes, t.FunctionCall):
        history, inner, tags = holes.arguments
        assert not isinstance(inner, t.Placeholder)
        return replace(holes, arguments=(history, _linked_from(base, inner), tags))
    return t.SimpleMapExpr(base, holes)


def _rest(
    do: Translator, base: t.Expr | None, shape: Shape, steps: tuple[t.Expr, ...], scope: ShapeScope
) -> Translated:
    """The steps that no level represents, over the filled elements, each tree by itself."""
    outside = isinstance(steps[0], t.AxisStep) and steps[0].axis == "attribute"
    inner = _native(do, steps, whole(), scope)
    if shape.has_holes() and not outside:
        if shape.document:
            return _joined((w.view(shape.stream), *inner)), _result(steps)
        inner = (w.call("temporalize", w.history(shape.stream), w.HERE), *inner)
    made = _joined(inner)
    return (made if base is None else _below(base, shape, made)), _result(steps)


def _result(steps: tuple[t.Expr, ...]) -> Shape:
    """What is known after steps over materialised trees."""
    deep = any(
        isinstance(part, t.AxisStep) and part.axis.startswith("descendant") for part in steps
    )
    plain = all(isinstance(part, t.AxisStep) for part in steps)
    return whole(nested=deep) if plain else LOOSE


def _native(
    do: Translator, steps: tuple[t.Expr, ...], focus: Shape, scope: ShapeScope
) -> tuple[t.Expr, ...]:
    """Steps as they are written, what is inside them translated."""
    inner = scope.at(focus)
    return tuple(_native_step(do, step, inner) for step in steps)


def _native_step(do: Translator, step: t.Expr, inner: ShapeScope) -> t.Expr:
    if isinstance(step, t.AxisStep):
        return rebuilt(step, lambda part: do.expression(part, inner)[0])
    if do.structures is not None and any(
        isinstance(part, t.FunctionCall) and part.name.local in ("stream", "doc")
        for part in everything(step)
    ):
        raise Uncovered("a stream inside a step")
    return do.settled(step, inner)


def _joined(steps: tuple[t.Expr, ...]) -> t.Expr:
    return steps[0] if len(steps) == 1 else t.PathExpr(False, steps)
