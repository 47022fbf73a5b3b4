"""A circuit as text: one line an operator, what it is keyed by, keeps and costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.show import show
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order, sources_of
from xstreamcast.circuit.show.facts import NodeFacts, facts_of, passing_facts
from xstreamcast.circuit.show.partitions import NOTHING


def show_circuit(
    circuit: c.Circuit,
    facts: bool = False,
    gone: frozenset[int] = frozenset(),
    together: bool = False,
    partitions: Mapping[int, str] | None = None,
) -> str:
    """The operators, each with the inputs below it; with the facts of each if they are wanted.

    `gone` are nodes, by identity, whose rows live for one tick; `together`: as columns.
    `partitions`: what nodes are partitioned by, those that are not in one place.
    """
    lines: list[str] = [f"emit {_shown(circuit.result)}"]
    seen: dict[int, int] = {}
    by = partitions or {}

    def shown(node: c.Node) -> str:
        return _facts(passing_facts(node, gone, together), by.get(id(node), NOTHING))

    wanted = shown if facts else None
    _walk(circuit.root, 1, lines, seen, wanted)
    return "\n".join(lines)


def show_nodes(nodes: Sequence[c.Node]) -> list[str]:
    """A line for each node, with what it is keyed by."""
    return [f"{_line(node)}  (key: {facts_of(node).key})" for node in nodes]


def operator_names(circuit: c.Circuit) -> dict[int, str]:
    """The number and kind of each node, by its identity: as `show_circuit` numbers them."""
    seen: dict[int, int] = {}
    _walk(circuit.root, 0, [], seen, None)
    return {
        id(node): f"{seen[id(node)]} {type(node).__name__.lower()}"
        for node in in_order(circuit.root)
    }


def _facts(facts: NodeFacts, partition: str) -> str:
    keeps = facts.keeps if facts.until is None else f"{facts.keeps}, until {facts.until}"
    return (
        f"key: {facts.key}; partitioned by: {partition}; keeps: {keeps}; "
        f"a changed row costs: {facts.cost}"
    )


def _walk(
    node: c.Node, depth: int, lines: list[str], seen: dict[int, int],
    facts: Callable[[c.Node], str] | None,
) -> None:  # fmt: skip
    known = seen.get(id(node))
    if known is not None:
        lines.append("  " * depth + f"= operator {known}")
        return
    seen[id(node)] = number = len(seen) + 1
    lines.append("  " * depth + f"{number} {_line(node)}")
    if facts is not None:
        lines.append("  " * depth + f"  ({facts(node)})")
    for one in sources_of(node):
        _walk(one, depth + 1, lines, seen, facts)


def _line(node: c.Node) -> str:
    columns = ", ".join(map(str, node.columns))
    match node:
        case c.One():
            return "one row"
        case c.Root(input=name, test=test):
            return f"the root {test.local or '*'} of {_name(name)}"
        case c.Spine(input=name, depth=depth):
            return f"elements at depth {depth} of the root of {_name(name)}"
        case c.Within():
            return f"rows of units within their element → {columns}"
        case c.CountAround(name=fold, below=below):
            of = "" if below is None else " what is below"
            return f"{fold} of{of} different nodes in and around units → {columns}"
        case c.Units(input=name):
            return f"units of {_name(name)}"
        case c.Rows(tuples=tuples, whole=whole):
            said = "recompute" if whole else "map"
            return f"{said} {_shown(tuples)} → {columns}"
        case c.Join(key=key):
            if key is None:
                return f"product → {columns}"
            return f"join {key.op}: {_shown(key.left)} with {_shown(key.right)} → {columns}"
        case c.BandJoin(key=key, upper=upper):
            by = " and by ".join(
                f"{one.op}: {_shown(one.left)} with {_shown(one.right)}" for one in (key, upper)
            )
            return f"join by {by} → {columns}"
        case c.IntervalJoin(word=word, mine=mine, theirs=theirs, left_first=first):
            one, other = (mine, theirs) if first else (theirs, mine)
            return f"join {_shown(one)} {word} {_shown(other)} → {columns}"
        case c.Nest(inner=inner):
            return f"nest {', '.join(_fold(fold) for _, fold in inner)} → {columns}"
        case c.RangeFold(fold=fold, cap=cap):
            by = " and by ".join(
                f"{one.op}: {_shown(one.left)} with {_shown(one.right)}" for one in node.keys
            )
            of = " of their group" if node.within else ""
            up_to = "" if cap is None else f" up to {cap}"
            return f"{fold.name}{up_to} of rows{of} that compare by {by} → {columns}"
        case c.Group(keys=keys, folds=folds):
            by = ", ".join(str(column) for column, _ in keys)
            return f"group by {by}: {', '.join(map(_fold, folds))} → {columns}"
        case c.Members(keys=keys):
            by = ", ".join(str(column) for column, _ in keys)
            return f"rows within their group by {by} → {columns}"
        case c.Order(keys=keys):
            by = ", ".join(str(key.column) + (" desc" if key.descending else "") for key in keys)
            return f"order by {by}"
        case c.Slice(first=first, last=last):
            return f"positions {first} to {'the end' if last is None else last}"
        case c.Pick(position=position):
            return f"positions {position}"
        case c.Number(variable=variable):
            return f"number rows as {variable}"
        case c.Union():
            return f"concatenate → {columns}"
        case c.Window(window=window, folds=folds):
            over = f": {', '.join(map(_fold, folds))}" if folds else ""
            return f"{window.kind} windows{over} → {columns}"
        case c.GrowingWindow(shape=shape):
            of = "" if shape.by is None else f" of each value of {_shown(shape.by.key)}"
            items = f"over {_shown(shape.window.items)}{_before(shape.before)}"
            return f"{shape.window.kind} windows{of} {items}: {_shown(shape.result)} → {columns}"


def _fold(fold: c.Fold) -> str:
    if fold.around is None:
        of = " of different values" if fold.different else ""
        return f"{fold.name}{of}" + ("" if fold.once is None else " of each node once")
    below = "" if fold.around.below is None else f" {fold.around.below} below"
    return f"{fold.name} of{below} nodes around units"


def _before(tuples: p.Tuples) -> str:
    return "" if isinstance(tuples, p.Unit) else f" with {_shown(tuples)}"


def _name(name: str | None) -> str:
    return "the context item" if name is None else f'stream("{name}")'


def _shown(plan: object) -> str:
    return " ".join(show(plan).split())  # type: ignore[arg-type]
