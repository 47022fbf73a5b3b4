"""Comparisons of what is inside an element with constants, and text that it must contain.

[severity >= 4], [@id eq "a"]                        →  a path, an operator, constants
[some $a in author satisfies contains($a, "b")]      →  a path, contains, "b"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypeAlias

from xstreamcast.algebra import plan as p
from xstreamcast.errors import Error
from xstreamcast.functions.cast import cast_value
from xstreamcast.functions.signature import FN
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.sequence_type import AtomicItem

_LIFESPAN: Final = frozenset({"vtFrom", "vtTo"})  # attributes that no payload has
_MIRRORED: Final[dict[p.CompareOp, p.CompareOp]] = {
    "eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le",
}  # fmt: skip
_CONTAINING: Final = frozenset({"contains", "starts-with", "ends-with"})


@dataclass(frozen=True, slots=True)
class PathComparison:
    """A path below an element compared with constants; `general`: as = and < do, not eq and lt.

    `contains`: the text that must be there for a function to hold. `anywhere`: the element may be
    any one inside of a fragment, not only its root.
    """

    steps: tuple[str, ...]  # local names; a reader of all namespaces sees no less
    attribute: str | None
    op: p.CompareOp | Literal["contains"]
    atoms: tuple[p.Atom, ...]
    general: bool
    anywhere: bool = False


IsBase: TypeAlias = Callable[[p.Expression], bool]
Run: TypeAlias = tuple[
    PathComparison, ...
]  # evaluated in this order, each where all before it hold


def operands(test: p.Expression) -> list[p.Expression]:
    return (
        [t for one in test.operands for t in operands(one)] if isinstance(test, p.And) else [test]
    )


def run_of(tests: Iterable[p.Expression], is_base: IsBase) -> Run:
    """The comparisons before anything else."""
    found: list[PathComparison] = []
    for test in (one for all_ in tests for one in operands(all_)):
        made = _comparison(test, is_base)
        if made is None:
            break
        found.append(made)
    return tuple(found)


def _comparison(test: p.Expression, is_base: IsBase) -> PathComparison | None:
    match test:
        case p.Call():
            return _containing(test, is_base, general=False)
        case p.Quantified("some", p.ForEach(p.Unit(), variable, items), p.Call() as call):

            def is_each(base: p.Expression) -> bool:
                return isinstance(base, p.Var) and base.variable == variable

            if call.args and is_each(call.args[0]):
                return _containing(call, is_base, general=True, path=items)
            return None
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


def _containing(
    call: p.Call, is_base: IsBase, *, general: bool, path: p.Expression | None = None
) -> PathComparison | None:
    """What a value must contain for a function to be true of it."""
    function = call.function
    if function.uri != FN or function.local not in _CONTAINING or len(call.args) != 2:
        return None
    steps, atoms = _path(call.args[0] if path is None else path, is_base), _atoms(call.args[1])
    if steps is None or atoms is None or len(atoms) != 1:
        return None
    return PathComparison(steps[0], steps[1], "contains", atoms, general)


def _path(plan: Any, is_base: IsBase) -> tuple[tuple[str, ...], str | None] | None:
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
