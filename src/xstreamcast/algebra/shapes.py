"""The plans that a shape is made of, one by one or as one; and the shape with others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.division import Grouped, Listed, Shape, Sorted


def plans_of(shape: Shape) -> list[p.Plan]:
    """The plans of a shape."""
    match shape:
        case Listed(expression):
            return [expression]
        case Sorted(tuples, keys, result):
            return [tuples, *(key.value for key in keys), result]
        case Grouped(_, group, result):
            return [group, result]


def as_expression(shape: Shape) -> p.Expression:
    """The shape as one expression."""
    match shape:
        case Listed(expression):
            return expression
        case Sorted(tuples, keys, result):
            return p.Return(p.OrderBy(tuples, keys), result)
        case Grouped(_, group, result):
            return p.Return(group, result)


def with_plans(shape: Shape, f: Callable[[Any], Any]) -> Shape:
    """The shape with f(plan) in the place of each."""
    match shape:
        case Listed(expression):
            return Listed(f(expression))
        case Sorted(tuples, keys, result):
            made = tuple(replace(key, value=f(key.value)) for key in keys)
            return Sorted(f(tuples), made, f(result))
        case Grouped(_, group, result):
            changed = f(group)
            return Grouped(changed.source, changed, f(result))
