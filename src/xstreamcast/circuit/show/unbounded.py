"""What of a circuit grows without bound with its documents, in words, with the operator."""

from __future__ import annotations

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order, sources_of
from xstreamcast.circuit.passes.growing import accumulates, adds, grows, inputs_beside
from xstreamcast.circuit.passes.top_n import limit_of
from xstreamcast.circuit.windows.retention import shown_name, windows_grow

_BOUND = "windows would bound it"


def unbounded_nodes(
    circuit: c.Circuit, streams: frozenset[str | None], tables: frozenset[str | None] = frozenset()
) -> list[str]:
    """A sentence for each operator that keeps more and more; `streams` are reported
    separately, and `tables` do not grow.
    """
    found: list[str] = []
    for node in in_order(circuit.root):
        if isinstance(node, c.Join) and adds(node) and inputs_beside(node.left) <= tables:
            continue  # nothing will come that could match what has come
        units = {one.input for one in in_order(node) if isinstance(one, c.Units)}
        inputs = units - streams - tables
        if isinstance(node, c.GrowingWindow) and inputs:
            found += windows_grow(node.shape, _names(inputs))
            continue
        said = _said(node, _names(inputs)) if inputs else None
        if said is not None:
            found.append(said)
    whole = circuit.whole - streams
    if whole:
        why = circuit.reasons[0][0] if circuit.reasons else "it is read with others"
        found.append(
            f"{_names(whole)} {'is' if len(whole) == 1 else 'are'} kept completely, because {why}; "
            "a query that evaluates each unit by itself, or windows, would bound it"
        )
    return list(dict.fromkeys(found))


def kept_history(name: str | None, near: bool = False) -> str:
    """A stream of fragments; `near`: it is read only through projections to times near now."""
    if near:
        return (
            f"of {shown_name(name)} the versions that its projections select are kept; if its "
            "units contain other fragments, its history"
        )
    why = "its fragments may be corrected"
    return f"the history of {shown_name(name)} is kept, because {why}; --immutable PATH bounds it"


def _said(node: c.Node, names: str) -> str | None:
    match node:
        case c.Order() if node.limit is None:
            return f"order by keeps the rows that it has sorted of {names}; {_BOUND}"
        case c.Group() if accumulates(node):
            return f"group by keeps a row for each group of {names}; {_BOUND}"
        case c.Group() | c.Members():
            return f"group by keeps the rows of {names} by group; {_BOUND}"
        case c.Join() | c.IntervalJoin() | c.BandJoin() | c.RangeFold() | c.Within():
            return f"a join keeps the rows of {names}, because later ones may match them; {_BOUND}"
        case c.Nest(inner=inner):
            return _nested(inner, names)
        case c.Window():
            return f"windows keep the items of {names}, because they may be needed again"
        case c.Slice(source=source) if limit_of(source) is not None:
            return None
        case c.Slice(source=source) if node.outer or not grows(source):
            return f"positions keep the order of all rows of {names}; {_BOUND}"
        case c.Number() | c.Pick() if not grows(node):
            return f"positions keep the order of all rows of {names}; {_BOUND}"
        case _:
            return None


def _nested(inner: tuple[tuple[c.Node, c.Fold], ...], names: str) -> str | None:
    units = [s for one, _ in inner for s in sources_of(one) if isinstance(s, c.Units)]
    folds = {fold.name for _, fold in inner}
    if all(_gives_windows(one) for one, _ in inner):
        counted = folds <= {"count", "exists", "empty"}
        return None if counted else f"a later operator needs the results of all windows of {names}"
    if units and all(one.pieces for one in units):
        if "distinct-values" in folds:
            return f"distinct-values keeps all values that it has met in {names}; {_BOUND}"
        return None
    if "items" in folds:
        return f"all items of {names} are kept, because an operator reads them together; {_BOUND}"
    return f"{', '.join(sorted(folds))} keeps the values of all rows of {names}; {_BOUND}"


def _gives_windows(node: c.Node) -> bool:
    """Whether rows are windows of a document that have closed for good, or what they gave."""
    if isinstance(node, c.Rows) and not (node.scalars or node.whole or node.clock):
        return _gives_windows(node.source)
    return isinstance(node, c.GrowingWindow)


def _names(names: set[str | None] | frozenset[str | None]) -> str:
    return " and ".join(shown_name(name) for name in sorted(names, key=str))
