"""Rows that go after each tick, because the units that they come from are read once."""

from __future__ import annotations

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order, sources_of
from xstreamcast.circuit.passes.growing import inputs_beside


def transient(circuit: c.Circuit, once: frozenset[str | None]) -> frozenset[int] | None:
    """The nodes, by identity, all of whose rows go when the units of some inputs do.

    None if a node has rows that go and others that stay, and does not know at once which is which.
    """
    gone: set[int] = set()
    for node in in_order(circuit.root):
        if isinstance(node, c.Units):
            if node.input in once:
                gone.add(id(node))
            continue
        going = [id(one) in gone for one in sources_of(node)]
        if _all_go(node, going):
            gone.add(id(node))
        elif any(going):
            return None
    return frozenset(gone)


def _all_go(node: c.Node, going: list[bool]) -> bool:
    """Whether no row is left when the rows of some inputs go."""
    match node:
        case c.One() | c.Root() | c.Spine():
            return False
        case c.Rows():  # values that all rows read may stay
            return going[0]
        case c.Join():  # pairs go with either row
            return any(going)
        case _:
            return all(going)


def by_columns(circuit: c.Circuit, gone: frozenset[int] | None) -> bool:
    """Whether the answer is made of rows that go, all of which can be evaluated together.

    Two joins may not look up in one input: only by one look-up are its nodes brought to one place,
    so that their identity and order hold.
    """
    if gone is None or id(circuit.root) not in gone:
        return False
    going = [node for node in in_order(circuit.root) if id(node) in gone]
    joins = [node for node in going if isinstance(node, c.Join)]
    read = [name for node in joins for name in inputs_beside(node.right)]
    return len(read) == len(set(read)) and all(_is_evaluated_together(one, gone) for one in going)


def _is_evaluated_together(node: c.Node, gone: frozenset[int]) -> bool:
    match node:
        case c.Units(clock=clock, inner=inner):
            return not (clock or inner)
        case c.Rows(scalars=scalars):
            return not scalars
        case c.Join(left=left, right=right):
            return id(left) in gone and id(right) not in gone
        case c.Nest(outer=outer, inner=inner):
            return all(outer in _around(one) and is_plain(fold) for one, fold in inner)
        case c.Slice(first=first, last=last):
            from_end = first < 0 and last in (None, -1)
            return outer_of(node) is not None and (from_end or (first > 0 and (last or 1) > 0))
        case c.Number():
            return outer_of(node) is not None
        case c.Union(outer=outer):
            return outer == 0 or outer_of(node) is not None
        case _:
            return False


def is_plain(fold: c.Fold) -> bool:
    """Whether a fold is its function over all items, in their order."""
    special = fold.around is not None or fold.once is not None or fold.different
    return not (special or fold.deferred)


def outer_of(node: c.Number | c.Slice | c.Union) -> c.Node | None:
    """The node within whose rows rows are counted or united; None if it is not of one tick."""
    first, *others = [_around(one) for one in sources_of(node)]
    found = (one for one in first if one.width == node.outer)
    return next((one for one in found if all(one in other for other in others)), None)


def _around(node: c.Node | None) -> list[c.Node]:
    """A node, and those around it: each row of one is made of one row of the next."""
    out = []
    while node is not None:
        out.append(node)
        match node:
            case c.Rows(source=source) | c.Number(source=source) | c.Slice(source=source):
                node = source
            case c.Join(left=left):
                node = left
            case c.Nest(outer=outer):
                node = outer
            case c.Union(outer=outer) if outer > 0:
                node = outer_of(node)
            case _:
                node = None
    return out
