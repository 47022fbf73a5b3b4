"""The focus of a predicate or a map, replaced by variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.walk import map_children
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN

# what reads the focus, and has no form that is given the item
OF_THE_FOCUS: Final = frozenset({"position", "last", "function-lookup"})
_OF_STRINGS: Final = frozenset({"string-length", "normalize-space"})


class _Kept(Exception):
    """The focus is read in a way that no variable can replace."""


def unfocused(
    plan: p.Expression, item: p.Expression, position: p.Expression, size: p.Var | None
) -> p.Expression | None:
    """The plan with these in the place of its own focus; None where that cannot be."""

    def walk(node: Any) -> Any:
        if not facts(node).reads_focus:
            return node
        match node:
            case p.Focus():
                return item
            case p.Position():
                return position
            case p.Last():
                if size is None:
                    raise _Kept
                return size
            case p.Call(function, args) if function.focus:
                if function.local in OF_THE_FOCUS:
                    raise _Kept
                made = lookup(function.uri, function.local, len(args) + 1)
                assert made is not None
                own = called("string", item) if function.local in _OF_STRINGS else item
                return replace(node, function=made, args=(*map(walk, args), own))
            case p.FunctionRef():
                raise _Kept
            case p.Path(_, right) | p.SimpleMap(_, right) | p.Filter(_, right):
                return map_children(node, lambda child: child if child is right else walk(child))
            case _:
                return map_children(node, walk)

    try:
        made: p.Expression = walk(plan)
    except _Kept:
        return None
    return made


def is_walk_down(plan: p.Expression) -> bool:
    """Whether it is nodes below the focus in document order, or some of them by position."""
    match plan:
        case p.Step(p.Focus(), "child" | "descendant"):
            return True
        case p.Filter(input, _, False):
            return is_walk_down(input)
        case p.Call(function, (one, *others)) if function.uri == FN:
            slices = function.local in ("subsequence", "head", "tail")
            return slices and is_walk_down(one) and all(isinstance(o, p.Const) for o in others)
        case _:
            return False
