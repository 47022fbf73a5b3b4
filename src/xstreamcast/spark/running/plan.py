"""How a history query is spread over tasks: by the units of one of its inputs, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.cut import TagCut
from xstreamcast.algebra.division import Division, Grouped, Listed, Part, Sorted
from xstreamcast.algebra.free import facts
from xstreamcast.algebra.inputs import inlined
from xstreamcast.algebra.split import deepest, divide
from xstreamcast.algebra.walk import bottom_up, descendants
from xstreamcast.edges.immutable import paths_of
from xstreamcast.functions.signature import FN
from xstreamcast.spark.running.groups import Groups, groups_of, unordered

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.structure import TagStructure


@dataclass(frozen=True, slots=True)
class Spread:
    """The query asked of ranges of the units of one input; the program of each part over them."""

    input: str | None
    name: str
    division: Division
    programs: tuple[Program, ...]
    groups: Groups | None = None

    @property
    def is_sorted(self) -> bool:
        """Whether what tasks find is the answer, in an order of its own."""
        return self.groups is not None or isinstance(self.division.parts[0].shape, Sorted)

    @property
    def told(self) -> bool:
        """Whether what tasks find is the answer, one after another."""
        part = self.division.parts[0]
        return self.division.plain and part.fold == "items" and isinstance(part.shape, Listed)


@dataclass(frozen=True, slots=True)
class Together:
    """The query asked by one task, and why."""

    reasons: tuple[str, ...]


def spread(program: Program, inputs: Mapping[str | None, TagStructure | None]) -> Spread | Together:
    """How to spread it over one of the inputs, which are tried in their order.

    An input is a stream with its structure, or a document.
    """
    reasons: list[str] = []
    if not inputs:
        reasons.append("it reads no table and no file")
    plain, order = unordered(program)
    for name, structure in inputs.items():
        division = _divided(plain, name, structure)
        found = _hindered(program, name, division)
        groups: Groups | str | None = None
        if not found and isinstance(division.parts[0].shape, Grouped):
            groups = groups_of(plain, division, order)
        if isinstance(groups, str):
            found = [groups]
        elif not found:
            called = _free_name(name, inputs)
            programs = tuple(_over(program, part, called, groups) for part in division.parts)
            return Spread(name, called, division, programs, groups)
        reasons += [f"{name or 'the document'}: {one}" for one in found]
    return Together(tuple(dict.fromkeys(reasons)))


def _divided(program: Program, name: str | None, structure: TagStructure | None) -> Division:
    if structure is None:
        return deepest(program, {}, frozenset({name}))
    return divide(program, {name: TagCut(structure)})


def _free_name(name: str | None, inputs: Mapping[str | None, Any]) -> str:
    found = name or "input"
    while name is None and found in inputs:
        found += "_"
    return found


def _hindered(program: Program, name: str | None, division: Division) -> list[str]:
    """Why a division does not tell what tasks can do each by itself."""
    if paths_of(program):
        return ["what may not change is told only over all that arrived"]
    if not division.parts:
        return [one.sentence for one in division.reasons]
    if name in division.whole:
        return ["it is read by its units and whole"]
    if _is_read_apart(program, name):
        return ["a function or a variable reads it whole"]
    return []


def _is_read_apart(program: Program, name: str | None) -> bool:
    """Whether something beside the body reads an input, or may read any."""
    plans: list[p.Plan] = [one.body for one in program.functions]
    used = facts(inlined(program)).used
    for one in program.variables:
        if one.value is not None and one.variable in used:
            plans.append(one.value)
    nodes = [node for plan in plans for node in descendants(plan)]
    nodes += [node for node in descendants(inlined(program)) if not isinstance(node, p.StreamInput)]
    return any(_reads(node, name) for node in nodes) or (
        name is None and any(facts(plan).reads_focus for plan in plans)
    )


def _reads(node: p.Plan, name: str | None) -> bool:
    match node:
        case p.StreamInput(other):
            return other == name
        case p.Call(function) | p.FunctionRef(function):
            return function.uri == FN and function.local in (
                "doc", "doc-available", "collection", "unparsed-text", "unparsed-text-lines",
            )  # fmt: skip
        case _:
            return False


def _over(program: Program, part: Part, name: str, groups: Groups | None) -> Program:
    """The program of a part over an input of that name, a part of the whole one."""

    def put(node: p.Plan) -> p.Plan:
        if isinstance(node, p.Var) and node.variable == part.document:
            return p.StreamInput(name, span=node.span)
        return node

    match part.shape:
        case Sorted(tuples, keys, result):
            body: p.Expression = p.Return(p.OrderBy(tuples, keys), result)
        case Listed(expression):
            around = part.around
            body = expression if around is None else around.counting(part.fold, expression)
        case Grouped() if groups is not None:
            body = groups.asked
        case _:
            raise AssertionError(part.shape)
    changed: p.Expression = bottom_up(body, put)
    return replace(program, body=changed)
