"""What is known of the columns of a circuit before it runs, and which joins may go by hash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.item_kinds import TypeContext, static_type, tuples_type
from xstreamcast.algebra.nodes.static_type import ANYTHING, NODE, NUMBER, TRUTH, Kinds, StaticType
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order, sources_of

Types = Mapping[p.Variable, StaticType]
_TEXT: Final = Kinds.NODE | Kinds.STRING | Kinds.UNTYPED  # what is compared as text
_COUNTED: Final = {"count": NUMBER, "exists": TRUTH, "empty": TRUTH}


def joins_by_hash(circuit: c.Circuit) -> frozenset[int]:
    """The joins by equality of which both sides are texts, or both numbers, whatever comes.

    Equal values then have equal hashes, and values that cannot be compared never meet.
    """
    known: dict[int, Types] = {}
    found = set()
    for node in in_order(circuit.root):
        known[id(node)] = _types(node, known)
        if isinstance(node, c.Join) and node.key is not None and node.key.op == "eq":
            left = static_type(node.key.left, TypeContext(known[id(node.left)])).kinds
            right = static_type(node.key.right, TypeContext(known[id(node.right)])).kinds
            if any(not (left | right) & ~alike for alike in (_TEXT, Kinds.NUMERIC)):
                found.add(id(node))
    return frozenset(found)


def _types(node: c.Node, known: Mapping[int, Types]) -> Types:
    given = {v: one for i in sources_of(node) for v, one in known[id(i)].items()}
    match node:
        case c.Units(document=document):
            return {document: NODE}
        case c.Rows(tuples=tuples):
            return tuples_type(tuples, TypeContext(given))[1].variables
        case c.Nest(inner=inner):
            return given | {fold.into: _folded(fold) for _, fold in inner}
        case c.RangeFold(fold=fold):
            return given | {fold.into: _folded(fold)}
        case c.Group(keys=keys, folds=folds):
            own = {variable: given.get(column, ANYTHING) for column, variable in keys}
            return given | own | {fold.into: _folded(fold) for fold in folds}
        case c.Number(variable=variable, size=size):
            return given | {variable: NUMBER} | ({} if size is None else {size: NUMBER})
        case c.Window(columns=columns) | c.GrowingWindow(columns=columns):
            return {v: ANYTHING for v in columns} | given
        case _:
            return given


def _folded(fold: c.Fold) -> StaticType:
    return _COUNTED.get(fold.name, ANYTHING)
