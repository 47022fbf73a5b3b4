"""What windows over a document keep, in words, and which of them may keep more and more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import BOOLEAN

if TYPE_CHECKING:
    from xstreamcast.circuit.windows.windowed import Windowed


def shown_name(name: str | None) -> str:
    """An input in words."""
    return "the context item" if name is None else f'stream("{name}")'


def windows_keep(shape: Windowed) -> str:
    """What is kept of items and windows."""
    if shape.window.kind == "general":
        return "all items, of which there may be 20"
    one = shape.window.kind == "tumbling"
    items = "its items" if one else "their items"
    if shape.folds_on:
        items = "its " + ", ".join(dict.fromkeys(one.name for one in shape.folds)) + " so far"
    if not shape.reads_items:
        items = "the item at which it starts" if one else "the items at which they start"
    opened = "the open window" if one else "open windows"
    if shape.key is not None:
        how = "value" if shape.key.op == "eq" else "order of values"
        opened += f", looked up by {how}"
    each = "" if shape.by is None else "for each value, "
    return f"{each}{opened}, with {items}"


def windows_grow(shape: Windowed, name: str) -> Iterator[str]:
    """Why what is kept may grow without bound."""
    kind = shape.window.kind
    if shape.by is not None:
        yield f"values that the key of items of {name} has had are kept, each with its windows"
    if kind == "landmark":
        held = "with all items since" if shape.reads_items else "with the items there"
        yield f"landmark windows of {name} never close: where they start is kept, {held}"
    elif kind == "sliding" and not _ends_soon(shape):
        yield f"windows of {name} may never end, and are kept until they do; {_REMEDY}"
    elif kind == "tumbling" and _keeps_items(shape) and not _ends_soon(shape):
        yield f"a window of {name} may never end, and keeps its items until it does; {_REMEDY}"


def _keeps_items(shape: Windowed) -> bool:
    """Whether the open window keeps a growing number of items or values."""
    kept = shape.reads_items and not shape.folds_on
    return kept or any(one.name == "distinct-values" for one in shape.folds)


_REMEDY = "an end after a number of items would bound it"


def _ends_soon(shape: Windowed) -> bool:
    """Whether every window has a known number of items at most."""
    start, end, index = shape.window.start, shape.window.end, shape.window.index
    if start is None or end is None:
        return True
    if end.test is None:
        return start.test is not None and _always(start.test)
    if _always(end.test):
        return True
    if shape.key is not None and shape.passes:
        return facts(shape.key.left).free == {start.position}
    if index is None or index.right != p.Var(end.position):  # type: ignore[arg-type]
        return False
    return facts(index.left).free == {start.position}


def _always(test: p.Expression) -> bool:
    match test:
        case p.Const((p.Atom(tag, True),)):
            return tag == BOOLEAN
        case p.Call(function, ()):
            return function.uri == FN and function.local == "true"
        case _:
            return False
