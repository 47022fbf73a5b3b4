"""Values of nodes taken where the nodes are bound: what is joined later are values, not nodes.

for $v in e … f($v/path)  →  for $v in e let $w := data($v/path) … f($w)
    if f reads only the value of the path

Steps from a node never fail, so that a value that is not needed does no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.walk import bottom_up, descendants, map_children
from xstreamcast.evaluate.calls import parameter_types
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN
from xstreamcast.model.sequence_type import AtomicItem, AtomicUnion

_STEPS: Final = frozenset({"child", "attribute", "self", "descendant", "descendant-or-self"})
Hoisted = dict[p.Variable, dict[p.Expression, p.Variable]]


def with_values(plan: p.Expression, fresh: Callable[[str], p.Variable]) -> p.Expression:
    """The plan with values of paths bound next to the nodes that the paths start at."""
    if not any(isinstance(node, p.TupleJoin) for node in descendants(plan)):
        return plan
    bound = {
        node.variable
        for node in descendants(plan)
        if isinstance(node, p.ForEach) and _is_walk(node.items) and not node.allowing_empty
    }
    found: Hoisted = {}
    made = _Values(bound, found, fresh).walk(plan, False)
    out: p.Expression = bottom_up(made, lambda node: _binding(node, found))
    return out


def _is_walk(plan: p.Expression) -> bool:
    """Whether all items are nodes of an input."""
    match plan:
        case p.Step(input, axis):
            return axis in _STEPS and (isinstance(input, p.StreamInput | p.Var) or _is_walk(input))
        case p.Filter(input):
            return _is_walk(input)
        case _:
            return False


class _Values:
    """One walk that notes which paths are read as values."""

    def __init__(
        self, bound: set[p.Variable], found: Hoisted, fresh: Callable[[str], p.Variable]
    ) -> None:
        self._bound, self._found, self._fresh = bound, found, fresh
        self._string = lookup(FN, "string", 1)  # of a node: that of its value

    def walk(self, plan: Any, value: bool) -> Any:
        """The plan with variables for paths; `value`: only its atomised value is read."""
        if value:
            start = _start(plan)
            if start in self._bound:
                assert start is not None
                known = self._found.setdefault(start, {})
                if plan not in known:
                    known[plan] = self._fresh("value")
                return p.Var(known[plan], span=plan.span)
        match plan:
            case p.Comma() if value:
                return map_children(plan, lambda child: self.walk(child, True))
            case p.GeneralCompare() | p.ValueCompare() | p.Arithmetic() | p.MakeAttribute():
                return map_children(plan, lambda child: self.walk(child, True))
            case p.Call(function, args) if not function.focus:
                types = parameter_types(function, len(args))
                made = tuple(
                    self.walk(
                        arg,
                        function is self._string or isinstance(type.item, AtomicItem | AtomicUnion),
                    )
                    for arg, type in zip(args, types, strict=True)
                )
                same = all(a is b for a, b in zip(made, args, strict=True))
                return plan if same else replace(plan, args=made)
            case p.GroupBy(source, keys):
                own = tuple(replace(key, value=self.walk(key.value, True)) for key in keys)
                return replace(plan, source=self.walk(source, False), keys=own)
            case p.OrderBy(source, keys):
                made_keys = tuple(replace(key, value=self.walk(key.value, True)) for key in keys)
                return replace(plan, source=self.walk(source, False), keys=made_keys)
            case p.TupleJoin(left, right, keys, residual):
                return replace(
                    plan, left=self.walk(left, False), right=self.walk(right, False),
                    keys=tuple(map(self._key, keys)),
                    residual=None if residual is None else self.walk(residual, False),
                )  # fmt: skip
            case p.Inline():
                return plan
            case _:
                return map_children(plan, lambda child: self.walk(child, False))

    def _key(self, key: p.JoinKey) -> p.JoinKey:
        return replace(
            key, left=self.walk(key.left, True), right=self.walk(key.right, True),
            test=self.walk(key.test, False),
        )  # fmt: skip


def _start(plan: Any) -> p.Variable | None:
    """The variable that a path of steps starts at; None for what is no such path."""
    if not isinstance(plan, p.Step):
        return None
    while isinstance(plan, p.Step) and plan.axis in _STEPS:
        plan = plan.input
    return plan.variable if isinstance(plan, p.Var) else None


def _binding(node: Any, found: Hoisted) -> Any:
    """A loop with the values of its nodes."""
    if not isinstance(node, p.ForEach) or node.variable not in found:
        return node
    data = lookup(FN, "data", 1)
    assert data is not None
    made: p.Tuples = node
    for path, variable in found[node.variable].items():
        made = p.Let(made, variable, p.Call(data, (path,), span=path.span))
    return made
