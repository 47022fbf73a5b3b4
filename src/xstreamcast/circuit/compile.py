"""A program to its circuit: planned, then without columns that are not read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.cut import Cut, DepthCut, TagCut
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.analysis.timing import Instants, Timing, asks_clock, timing
from xstreamcast.algebra.program import Program
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.normal import input_name, normal
from xstreamcast.circuit.lifting.planning import Planner
from xstreamcast.circuit.node_sources import in_order, sources_of, with_sources
from xstreamcast.circuit.passes.caps import capped
from xstreamcast.circuit.passes.early_positions import with_early_positions
from xstreamcast.circuit.passes.fuse import fused


def circuit_of(
    program: Program, cuts: Mapping[str | None, Cut], growing: bool = False, batch: bool = False
) -> c.Circuit:
    """The circuit of a program whose inputs are cut so; an input without a cut is read whole.

    `growing`: all inputs are documents, whose items only follow each other.
    `batch`: rows are read once, and nothing has to be quick to change.
    """
    made = _planned(normal(program), cuts, growing, batch=batch)
    units = {n.input for n in in_order(made.root) if isinstance(n, c.Units)}
    both = {n for n in units & made.whole if isinstance(cuts[n], DepthCut)}
    if both:  # a document is either cut or kept
        left = {name: cut for name, cut in cuts.items() if name not in both}
        return _planned(normal(program), left, growing, batch=batch)
    return made


def whole_circuit(program: Program) -> c.Circuit:
    """The circuit that evaluates a program as it is written, over inputs that are read whole."""
    return _planned(program, {}, False, "a projection may see states that are planned")


def _planned(
    program: Program, cuts: Mapping[str | None, Cut], growing: bool, why: str | None = None,
    roots: bool = True, spines: bool = True, batch: bool = False,
) -> c.Circuit:  # fmt: skip
    planner = Planner(program, cuts, growing, batch)
    planner.loops_over_roots, planner.loops_over_spines = roots, spines
    if program.settings.sequential:
        why = "a sequential program is not evaluated incrementally"
    if why is not None:
        planner.reasons.append((why, (0, 0)))
        found, result = planner.whole_answer(program.body)
    else:
        found, result = planner.answer(program.body)
    root = _timed(_pruned(found.closed().base, facts(result).free), result, cuts)
    root, result = fused(root, result)
    root = capped(root if growing or batch else with_early_positions(root), result)
    whole = frozenset(
        name for node in in_order(root) if isinstance(node, c.Rows) for name in node.whole
    )
    if spines and planner.has_spines and whole:  # an element is read beyond the units in it
        return _planned(program, cuts, growing, why, roots, spines=False, batch=batch)
    order = in_order(root)
    rooted = {node.input for node in order if isinstance(node, c.Root)}
    units = {node.input for node in order if isinstance(node, c.Units)}
    if roots and rooted and (whole or rooted - units):  # what follows from the root is no relation
        return _planned(program, cuts, growing, why, roots=False, spines=spines, batch=batch)
    return c.Circuit(
        root, result, tuple(map(input_name, planner.sources)), whole,
        frozenset((input_name(name), guard) for name, guard in planner.guards),
        frozenset((input_name(name), guard) for name, guard in planner.held),
        tuple(dict.fromkeys(planner.reasons)), planner.hasty,
    )  # fmt: skip


# -- columns that are not read --------------------------------------------------------------------


def _pruned(root: c.Node, read: frozenset[p.Variable]) -> c.Node:
    order = in_order(root)
    needed: dict[int, set[p.Variable]] = {id(node): set() for node in order}
    needed[id(root)] |= read
    for node in reversed(order):
        for source, columns in _read_by(node, frozenset(needed[id(node)])):
            needed[id(source)] |= columns
    made: dict[int, c.Node] = {}
    for node in order:
        made[id(node)] = _narrowed(node, frozenset(needed[id(node)]), made)
    return made[id(root)]


def _read_by(node: c.Node, needed: frozenset[p.Variable]) -> list[tuple[c.Node, set[p.Variable]]]:
    """What a node reads of its inputs, if so much is needed of it."""
    match node:
        case c.One() | c.Root() | c.Spine() | c.Units():
            return []
        case c.Within(outer=outer, units=units, element=element):
            return [
                (outer, set(outer.columns) & (needed | {element})),
                (units, set(units.columns) & needed),
            ]
        case c.CountAround(source=source, depths=depths, below=below):
            return [(source, {depths, *(below or ())})]
        case c.Rows(source=source, tuples=tuples, scalars=scalars):
            used = facts(tuples).used | needed
            own = [(one, {variable}) for variable, one in scalars if variable in used]
            return [(source, set(source.columns) & used), *own]
        case c.Join(left=left, right=right, key=key):
            used = needed if key is None else needed | facts(key.left).used | facts(key.right).used
            return [(left, set(left.columns) & used), (right, set(right.columns) & used)]
        case c.BandJoin(left=left, right=right):
            keys = node.key, node.upper
            used = needed.union(*(facts(one).used for key in keys for one in (key.left, key.right)))
            return [(left, set(left.columns) & used), (right, set(right.columns) & used)]
        case c.IntervalJoin(left=left, right=right, mine=mine, theirs=theirs):
            used = needed | facts(mine).used | facts(theirs).used
            return [(left, set(left.columns) & used), (right, set(right.columns) & used)]
        case c.Nest(outer=outer, inner=inner):
            own = [(one, {fold.column}) for one, fold in inner]
            return [(outer, set(outer.columns) & needed), *own]
        case c.RangeFold(outer=outer, inner=one, fold=fold):
            by_outer = frozenset[Any]().union(*(facts(key.left).used for key in node.keys))
            by_inner = frozenset[Any]().union(*(facts(key.right).used for key in node.keys))
            return [
                (outer, set(outer.columns) & (needed | by_outer)),
                (one, set(one.columns) & (by_inner | {fold.column})),
            ]
        case c.Group(source=source, keys=keys, folds=folds, carried=carried):
            columns = {column for column, _ in keys} | (set(carried) & needed)
            columns |= {fold.column for fold in folds if fold.into in needed}
            return [(source, columns)]
        case c.Members(source=source, keys=keys):
            return [(source, {column for column, _ in keys} | (set(source.columns) & needed))]
        case c.Order(source=source, keys=sort_keys):
            return [(source, set(needed) | {key.column for key in sort_keys})]
        case c.Pick(source=source, place=place, position=position):
            return [(source, set(source.columns) & needed), (place, {position})]
        case c.Slice(source=source) | c.Number(source=source):
            return [(source, set(source.columns) & needed)]
        case c.Union(parts=parts):
            return [(one, set(needed)) for one in parts]
        case c.Window(source=source, item=item, window=window, carried=carried, folds=folds):
            used = facts(window).used | needed
            folded = {fold.column for fold in folds if fold.into in needed}
            return [(source, {item} | folded | (set(carried) & used))]
        case c.GrowingWindow(source=source):
            return [(source, set(source.columns))]


def _narrowed(node: Any, needed: frozenset[p.Variable], made: Mapping[int, c.Node]) -> c.Node:
    """The node over narrowed inputs, with the columns that are needed."""
    columns = tuple(column for column in node.columns if column in needed)
    match node:
        case c.One() | c.Root() | c.Spine() | c.Units():
            return node
        case c.Within(outer=outer, units=units):
            sides = made[id(outer)], made[id(units)]
            return replace(node, outer=sides[0], units=sides[1], columns=columns)
        case c.GrowingWindow(source=source):
            return replace(node, source=made[id(source)])  # type: ignore[arg-type]
        case c.Rows(source=source, scalars=scalars):
            used = facts(node.tuples).used | needed
            own = tuple((variable, made[id(one)]) for variable, one in scalars if variable in used)
            return replace(node, source=made[id(source)], scalars=own, columns=columns)
        case c.Join() | c.IntervalJoin() | c.BandJoin():
            sides = made[id(node.left)], made[id(node.right)]
            return replace(node, left=sides[0], right=sides[1], columns=columns)
        case c.Nest(outer=outer, inner=inner):
            kept = tuple((made[id(one)], fold) for one, fold in inner if fold.into in needed)
            return replace(node, outer=made[id(outer)], inner=kept, columns=columns)
        case c.RangeFold(outer=outer, inner=one):
            return replace(node, outer=made[id(outer)], inner=made[id(one)], columns=columns)
        case c.Group(source=source, folds=folds, carried=carried):
            live = tuple(fold for fold in folds if fold.into in needed)
            keys = tuple(variable for _, variable in node.keys)
            kept_columns = tuple(v for v in node.columns if v in needed or v in keys)
            return replace(
                node, source=made[id(source)], folds=live, columns=kept_columns,
                carried=tuple(one for one in carried if one in needed),
            )  # fmt: skip
        case c.Union(parts=parts):
            return replace(node, parts=tuple(made[id(one)] for one in parts), columns=columns)
        case c.Pick(source=source, place=place):
            return replace(node, source=made[id(source)], place=made[id(place)], columns=columns)
        case c.Window(source=source, window=window, carried=carried, folds=folds):
            used = facts(window).used | needed
            return replace(
                node, source=made[id(source)], columns=columns,
                folds=tuple(fold for fold in folds if fold.into in needed),
                carried=tuple(one for one in carried if one in used),
            )  # fmt: skip
        case _:
            return replace(node, source=made[id(node.source)], columns=columns)  # type: ignore[no-any-return]


# -- the clock ------------------------------------------------------------------------------------


def _timed(root: c.Node, result: p.Expression, cuts: Mapping[str | None, Cut]) -> c.Node:
    """The circuit whose units know when they may change by the clock alone."""
    order = in_order(root)
    plans: dict[int, list[tuple[p.Plan, frozenset[p.Variable] | None]]] = {}
    for node in order:
        if isinstance(node, c.Rows) and isinstance(node.source, c.Units):
            read = node.tuples, frozenset(node.columns)
            plans.setdefault(id(node.source), []).append(read)
        for one in sources_of(node):
            if isinstance(one, c.Units) and not isinstance(node, c.Rows):
                plans.setdefault(id(one), [])
    if isinstance(root, c.Units):
        plans.setdefault(id(root), []).append((result, None))
    made: dict[int, c.Node] = {}
    for node in order:
        if isinstance(node, c.Units):
            cut = cuts.get(node.input)
            events = cut.structure.instants() if isinstance(cut, TagCut) else frozenset()
            made[id(node)] = _with_clock(node, plans.get(id(node), []), events)
        else:
            made[id(node)] = with_sources(node, made)
    return made[id(root)]


def _with_clock(
    node: c.Units, plans: list[tuple[p.Plan, frozenset[p.Variable] | None]], events: Instants
) -> c.Units:
    asking = [(plan, seen) for plan, seen in plans if asks_clock(plan)]
    if not asking:
        return node
    found = [timing([plan], seen, True, events) for plan, seen in asking]
    if any(one is None for one in found):
        return replace(node, clock=True)
    offsets = {o for one in found if one is not None for o in one.offsets}
    fixed = {f for one in found if one is not None for f in one.fixed}
    content = any(one.content for one in found if one is not None)
    when = Timing(tuple(sorted(offsets)), tuple(sorted(fixed)), content)
    return replace(node, clock=True, timing=when)
