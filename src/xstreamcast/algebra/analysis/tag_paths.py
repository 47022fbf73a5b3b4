"""Paths from a stream that name all elements of some tags: these can be had without their parents.

stream("a")/site/people/person  →  the fragments of the tag of person
stream("a")//price              →  the fragments that contain a price, and in them //price
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.guide import Guide
from xstreamcast.algebra.analysis.places import DOCUMENT, FragmentElement, Needs, may_have, moved
from xstreamcast.algebra.analysis.required import required
from xstreamcast.algebra.nodes.parts import part_name
from xstreamcast.algebra.program import with_bodies
from xstreamcast.algebra.walk import descendants, map_children
from xstreamcast.model.sequence_type import NodeItem

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program


def with_parts(
    program: Program, guides: Mapping[str, Guide], inline: bool = True
) -> tuple[Program, frozenset[str]]:
    """(the program with such paths replaced, the streams that it reads through them alone).

    `inline`: also where variables represent such paths.
    """
    taken = dict(guides)
    while True:
        made = _with_parts(program, taken, inline)
        whole = _streams(made) & set(taken)
        if not whole:
            return made, frozenset(taken)
        taken = {name: guide for name, guide in taken.items() if name not in whole}


def _with_parts(program: Program, guides: Mapping[str, Guide], inline: bool) -> Program:
    inlined = _inlined(program, guides) if inline else program

    def put(plan: Any) -> Any:
        match plan:
            case p.Filter(p.Step() as path, predicate) if children := required(predicate):
                made = _replaced(path, guides, children)
                if made is not None:
                    return replace(plan, input=made, predicate=put(predicate))
        return _replaced(plan, guides) or map_children(plan, put)

    return with_bodies(inlined, put)


def _streams(program: Program) -> set[str]:
    """The streams that are read whole."""
    plans = [program.body, *(one.body for one in program.functions)]
    plans += [one.value for one in program.variables if one.value is not None]
    if program.context is not None and program.context.value is not None:
        plans.append(program.context.value)
    return {
        node.name for plan in plans for node in descendants(plan) if isinstance(node, p.StreamInput)
    }


def _replaced(
    plan: Any, guides: Mapping[str, Guide], children: Sequence[NodeItem] = ()
) -> p.Expression | None:
    """The longest path here that names all elements of some tags, as a part of its stream.

    `children`: of what it leads to, only elements that have all of these count.
    """
    found = _chain(plan)
    if found is None or found[0].name not in guides:
        return None
    stream, steps = found
    guide = guides[stream.name]
    for length in range(len(steps), 0, -1):
        counted = children if length == len(steps) else ()
        tags, last = _complete(stream.name, steps[:length], guide, counted)
        if tags is None:
            continue
        made: p.Expression = replace(stream, name=part_name(stream.name, tags))
        for step in ([] if last is None else [last]) + steps[length:]:
            made = replace(step, input=made, settled=False)
        return made
    return None


def _chain(plan: Any) -> tuple[p.StreamInput, list[p.Step]] | None:
    steps: list[p.Step] = []
    while isinstance(plan, p.Step):
        steps.append(plan)
        plan = plan.input
    return (plan, steps[::-1]) if isinstance(plan, p.StreamInput) and steps else None


def _complete(
    stream: str, steps: list[p.Step], guide: Guide, children: Sequence[NodeItem]
) -> tuple[frozenset[int] | None, p.Step | None]:
    """(the tags all of whose elements the steps name, a step to take from them)."""
    places, whole = {FragmentElement(stream, DOCUMENT, ())}, True
    for number, step in enumerate(steps):
        needs = Needs()
        before = places
        counts = partial(may_have, children, guide) if number == len(steps) - 1 else None
        places = {
            one
            for place in before
            for one in moved(place, step.axis, step.test, guide, needs, counts)
        }
        other = step.axis in ("attribute", "self") or step.test.kind != "element"
        if needs.all is not None or other:
            return None, None
        first = number == 0 and step.axis in ("descendant", "descendant-or-self")
        if first and any(one.path != () or one.tag == DOCUMENT for one in places):
            return _inside(step, places) if len(steps) == 1 else (None, None)
        whole = first or (whole and _covers(before, places, step, guide))
    tags = frozenset(one.tag for one in places)
    roots = all(one.path == () and one.tag != DOCUMENT for one in places)
    return (tags, None) if whole and roots and tags else (None, None)


def _inside(
    step: p.Step, places: set[FragmentElement]
) -> tuple[frozenset[int] | None, p.Step | None]:
    if step.test.kind != "element" or any(one.tag == DOCUMENT for one in places):
        return None, None
    return frozenset(one.tag for one in places), replace(step, axis="descendant-or-self")


def _covers(
    before: set[FragmentElement], after: set[FragmentElement], step: p.Step, guide: Guide
) -> bool:
    """Whether every element of the tags after the step is reached by it from those before it."""
    tags = {one.tag for one in after if one.path == () and one.tag != DOCUMENT}
    if step.axis == "child":
        ways = {(t, k.path, k.child) for t, ks in guide.links.items() for k in ks}
        from_document = any(one.tag == DOCUMENT for one in before)
        if any(tag in guide.roots and not from_document for tag in tags):
            return False
        reached = {(one.tag, one.path) for one in before}
        return all((t, path) in reached for t, path, child in ways if child in tags)
    if any(one.path != () for one in before):
        return False
    above = frozenset(one.tag for one in before)
    return not tags & (guide.without(above) | above)


# -- variables that represent paths ---------------------------------------------------------------


def _inlined(program: Program, guides: Mapping[str, Guide]) -> Program:
    """Variables whose value is a path from a stream, as that path wherever they are."""
    known: dict[p.Variable, p.Expression] = {}
    guides = {} if _is_carried(program) else guides
    for declared in program.variables:
        if declared.value is not None and not declared.external:
            _note(declared.variable, put_in(declared.value, known), known, guides)
    body = put_in(program.body, known, guides)
    variables = tuple(_without(one, known) for one in program.variables)
    context = program.context
    if context is not None and context.value is not None:
        context = replace(context, value=put_in(context.value, known, guides))
    functions = tuple(
        replace(one, body=put_in(one.body, known, guides)) for one in program.functions
    )
    return replace(program, body=body, variables=variables, functions=functions, context=context)


def _without(declared: Any, known: dict[p.Variable, p.Expression]) -> Any:
    """The variable of the prolog where others are put in; it needs no value if it is, too."""
    if declared.variable in known and _is_untyped(declared.type):
        return replace(declared, value=p.EMPTY)
    if declared.value is None:
        return declared
    return replace(declared, value=put_in(declared.value, known))


def _is_carried(program: Program) -> bool:
    """Whether a group by carries variables over: those must stay."""
    plans = [program.body, *(one.body for one in program.functions)]
    return any(isinstance(node, p.GroupBy) for plan in plans for node in descendants(plan))


def _is_untyped(kind: Any) -> bool:
    return bool(kind.at_least == 0)


def put_in(
    plan: Any, known: dict[p.Variable, p.Expression], guides: Mapping[str, Guide] | None = None
) -> Any:
    """The plan with paths in the place of the variables that represent them."""
    match plan:
        case p.Var(variable) if variable in known:
            return known[variable]
        case p.Let(source, variable, value) if guides is not None:
            inner, made = put_in(source, known, guides), put_in(value, known, guides)
            if _note(variable, made, known, guides):
                return inner
            return replace(plan, source=inner, value=made)
        case _:
            return map_children(plan, lambda child: put_in(child, known, guides))


def _note(
    variable: p.Variable,
    value: Any,
    known: dict[p.Variable, p.Expression],
    guides: Mapping[str, Guide],
) -> bool:
    """Remember a variable whose value is a path from a stream."""
    if isinstance(value, p.StreamInput):
        stream = value
    else:
        found = _chain(value)
        if found is None:
            return False
        stream = found[0]
    if stream.name in guides:
        known[variable] = value
        return True
    return False
