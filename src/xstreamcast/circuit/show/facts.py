"""Facts of each operator, for people: its key, what it keeps, and what a changed row costs."""

from __future__ import annotations

from typing import NamedTuple

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.inputs.grown import keeps_values
from xstreamcast.circuit.node_sources import follows_clock, in_order, sources_of
from xstreamcast.circuit.passes.growing import accumulates, adds, grows
from xstreamcast.circuit.passes.top_n import limit_of
from xstreamcast.circuit.windows.retention import shown_name, windows_grow, windows_keep
from xstreamcast.model.counted import counted


class NodeFacts(NamedTuple):
    """What `explain --stage circuit` says of an operator."""

    key: str
    keeps: str
    cost: str
    until: str | None = None  # when what it keeps is dropped


def passing_facts(node: c.Node, gone: frozenset[int], together: bool) -> NodeFacts:
    """The facts of an operator, where rows of some live for one tick; `together`: as columns."""
    found = facts_of(node)
    found = found._replace(until=_until(node, found.keeps))
    if isinstance(node, c.Join) and id(node) in gone and id(node.right) not in gone:
        if together and keeps_values(node):
            kept = "the values of the right side, each once, hash index"
            return found._replace(keeps=kept, until="the query ends")
        return found._replace(keeps=found.keeps.replace("both sides", "the right side"))
    if id(node) in gone:
        how = "nothing after the tick" + (", its rows are columns" if together else "")
        return found._replace(keeps=how, until=None)
    return found


def _until(node: c.Node, keeps: str) -> str | None:
    """When an operator drops what it keeps; None if it keeps nothing."""
    if keeps.startswith("nothing"):
        return None
    if isinstance(node, c.GrowingWindow):
        return "the window ends"
    if limit_of(node) is not None:
        return "better rows come"
    if isinstance(node, c.Rows) and node.whole:
        return "they change"
    inputs = sources_of(node) or (node,)
    if all(isinstance(one, c.One) or adds(one) for one in inputs):
        return "the query ends"  # no row changes or goes
    clock = any(getattr(one, "clock", False) for one in in_order(node))
    return "its rows change or go" + (", by the clock too" if clock else "")


def facts_of(node: c.Node) -> NodeFacts:
    """The facts of one operator, but for how long."""
    match node:
        case c.One():
            return NodeFacts("none", "nothing", "nothing")
        case c.Root():
            return NodeFacts("none", "whether there is one", "1")
        case c.Spine():
            return NodeFacts("the element", "the value of each element", "1")
        case c.Within():
            return NodeFacts(_key(node), "both sides by element", "the rows in the element")
        case c.CountAround():
            return NodeFacts(
                "none", "how many units reach each element; sums by the elements around units", "1"
            )
        case c.Units(pieces=True):
            return NodeFacts("the piece of the document", "nothing", "the units of a piece")
        case c.Units(append=True):
            return NodeFacts("the unit", "the units that other operators refer to", "1")
        case c.Units(clock=clock, timing=timing, inner=inner):
            due = "".join(f"; of each fragment inside: {one.shown}" for one in inner)
            if clock:
                due += "; a timer for each" if timing is not None else "; all as the clock advances"
            return NodeFacts("the unit", f"the place of each unit{due}", "1")
        case c.Rows(whole=whole) if whole:
            return NodeFacts("none", "its inputs", "all of its inputs")
        case c.Rows(scalars=scalars, clock=clock):
            again = bool(scalars) or (clock and not follows_clock(node.source))
            cost = "1; all rows when a shared value or the clock changes" if again else "1"
            kept = "nothing" if grows(node) else "the result of each row"
            limit = limit_of(node)
            kept = kept if limit is None else f"the results of at most {counted(limit, 'row')}"
            return NodeFacts(_key(node), kept, cost)
        case c.Join(key=key):
            if key is None:
                return NodeFacts(_key(node), "both sides", "the rows of the other side")
            index = "hash" if key.op == "eq" else "sorted"
            return NodeFacts(
                f"the join key ({key.op})", f"both sides, {index} index", "the rows that match"
            )
        case c.BandJoin():
            return NodeFacts(
                "the band", "both sides, sorted; the ends of each block", "the rows that match"
            )
        case c.IntervalJoin():
            return NodeFacts(
                "the interval", "both sides, sorted by beginning; the ends of each block",
                "the rows that match; rows that begin or end as the clock passes",
            )  # fmt: skip
        case c.Nest(inner=inner):
            folds = [fold for _, fold in inner]
            return NodeFacts(_key(node), _folds(folds), _cost(folds, "the nested rows"))
        case c.RangeFold(fold=fold, within=within):
            return NodeFacts(
                "the group's key" if within else _key(node),
                f"both sides, sorted; {fold.name} of each block",
                "log of the other side; rows whose fold changes",
            )  # fmt: skip
        case c.Group() if accumulates(node):
            return NodeFacts("the group's key", "a value of each fold for each group", "1")
        case c.Group(folds=group_folds):
            members = list(group_folds)
            return NodeFacts("the group's key", _folds(members), _cost(members, "the group"))
        case c.Members():
            return NodeFacts("the group's key", "its rows", "1")
        case c.Order(limit=limit) if limit is not None:
            return NodeFacts(_key(node), _at_most(limit), "log of these rows")
        case c.Order():
            return NodeFacts(_key(node), "the sort keys of all rows", "log of all rows")
        case c.Slice(source=source) if node.outer == 0 and grows(source):
            return NodeFacts("none", "the rows that it shows", "1")
        case c.Number() if grows(node):
            return NodeFacts("none", "the number of rows", "1")
        case c.Slice() if limit_of(node.source) is not None:
            return NodeFacts("the outer row", "the ranks of these rows", "log of these rows")
        case c.Slice() | c.Pick():
            return NodeFacts("the outer row", "the ranks of all rows", "log of all rows")
        case c.Number():
            return NodeFacts(
                "the outer row", "the ranks of all rows", "the rows whose number changes"
            )
        case c.Union():
            return NodeFacts(_key(node), "nothing", "1")
        case c.Window(folds=window_folds):
            kept = "its items and windows"
            if any(fold.column != node.item for fold in window_folds):
                kept += "; sums of blocks of items"
            return NodeFacts("the outer row", kept, "the windows that hold the item")
        case c.GrowingWindow(source=units, shape=shape):
            known_by = "the window" if shape.by is None else "the value, and the window"
            grow = list(windows_grow(shape, shown_name(units.input)))
            kept = f"{windows_keep(shape)}; bounded: {'no; ' + grow[0] if grow else 'yes'}"
            return NodeFacts(known_by, kept, "the windows that it ends, and those that are open")


def _at_most(limit: int) -> str:
    return f"at most {limit} row{'s' if limit > 1 else ''}"


def _key(node: c.Node) -> str:
    return "none" if node.width == 0 else f"{node.width} part{'s' if node.width > 1 else ''}"


def _cost(folds: list[c.Fold], members: str) -> str:
    """Items that are kept as they are make the new row as long as the group."""
    if any(fold.call is None for fold in folds):
        return f"{members}, whose items the new row holds"
    if any(fold.name in ("sum", "avg") for fold in folds):
        return f"log of {members}; doubles are added again in their order"
    return f"log of {members}"


def _folds(folds: list[c.Fold]) -> str:
    names = sorted({"all items" if fold.call is None else fold.name for fold in folds})
    return f"per key: {', '.join(names)}" if names else "per key: its rows"
