"""What distinguishes nodes with equal content: where it occurs, nodes must not be copied."""

from __future__ import annotations

from typing import Final

from xstreamcast.algebra.translate.parts import everything
from xstreamcast.algebra.translate.shapes import Uncovered
from xstreamcast.syntax import tree as t

_AXES: Final = frozenset(
    (
        *("parent", "ancestor", "ancestor-or-self", "preceding", "preceding-sibling"),
        *("following", "following-sibling"),
    )
)
_FUNCTIONS: Final = frozenset(
    (
        *("root", "generate-id", "path", "id", "idref", "element-with-id", "innermost"),
        *("outermost", "lang", "base-uri", "document-uri", "in-scope-prefixes"),
    )
)


def refuse_identity(module: t.Module) -> None:
    """Go no further if the query looks up, sideways, or at which node is which."""
    for node in everything((module.prolog, module.body)):
        match node:
            case t.AxisStep(axis) if axis in _AXES:
                raise Uncovered(f"the axis {axis} leaves the fragment")
            case t.ComparisonExpr("is" | "<<" | ">>" as operator):
                raise Uncovered(f"{operator} asks which node it is")
            case t.SetExpr(operator):
                raise Uncovered(f"{operator} asks which node it is")
            case t.PathExpr(absolute=True):
                raise Uncovered("a path from the root leaves the fragment")
            case t.FunctionCall(name) | t.NamedFunctionRef(name) if name.local in _FUNCTIONS:
                raise Uncovered(f"{name.local} leaves the fragment")
            case t.NamespaceAttribute(""):
                raise Uncovered("the default namespace changes inside the query")
            case _:
                pass
