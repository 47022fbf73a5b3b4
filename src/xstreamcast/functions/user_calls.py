"""How a Python function is called for the rows of a column, and its results read back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.errors import Error, error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.rows import pairs
from xstreamcast.model import atomic as a
from xstreamcast.model.column import Column, offsets_of
from xstreamcast.model.date_time import DateTime
from xstreamcast.model.duration import Duration
from xstreamcast.model.function_item import FunctionItem
from xstreamcast.model.items import Items
from xstreamcast.model.qname import QName
from xstreamcast.model.sequence_type import AtomicItem, SequenceType

if TYPE_CHECKING:
    from xstreamcast.functions.signature import Signature
    from xstreamcast.tape.node import Node

# The Python types that a type accepts in addition to its own.
_PYTHON: Final[dict[int, tuple[type, ...]]] = {
    a.BOOLEAN: (bool,),
    a.INTEGER: (int,),
    a.DECIMAL: (Decimal, int),
    a.DOUBLE: (float, int),
    a.FLOAT: (float, int),
    a.STRING: (str,),
    a.UNTYPED: (str,),
    a.ANY_URI: (str,),
    a.QNAME: (QName,),
    a.DATE_TIME: (DateTime,),
    a.DATE: (DateTime,),
    a.TIME: (DateTime,),
    a.DURATION: (Duration,),
    a.DAY_TIME_DURATION: (Duration,),
    a.YEAR_MONTH_DURATION: (Duration,),
}
_TAG_OF: Final = (
    (bool, a.BOOLEAN),
    (int, a.INTEGER),
    (float, a.DOUBLE),
    (Decimal, a.DECIMAL),
    (str, a.STRING),
    (QName, a.QNAME),
    (FunctionItem, a.FUNCTION),
)


def in_columns(head: Signature, python: Callable[..., Any]) -> Callable[..., Column]:
    """One call for all rows."""

    def body(call: CallContext, *columns: Column) -> Column:
        made = _guarded(head, python, columns)
        if not isinstance(made, Column) or made.n != call.n:
            raise _unfit(head, f"a column of {call.n} rows", made)
        return made

    return body


def row_by_row(head: Signature, python: Callable[..., Any]) -> Callable[..., Column]:
    """One call for each row, with Python values."""
    types = head.parameters

    def body(call: CallContext, *columns: Column) -> Column:
        nodes = _Nodes(call)
        more = types + types[-1:] * (len(columns) - len(types))
        arguments = zip(columns, more, strict=True)
        cells = [list(_values(nodes, column, kind)) for column, kind in arguments]
        rows = zip(*cells, strict=True) if cells else iter([()] * call.n)
        made = [_result(head, nodes, _guarded(head, python, row)) for row in rows]
        return _column(made)

    return body


class _Nodes:
    """Nodes as Python sees them, and the way back: a node knows its tape, not its number."""

    def __init__(self, call: CallContext) -> None:
        self.store = call.store
        self.numbers: dict[int, int] = {}

    def out(self, handle: int) -> Node:
        node: Node = self.store.node(handle)
        self.numbers[id(node.tape)] = handle >> 32
        return node

    def back(self, node: Node) -> int | None:
        number = self.numbers.get(id(node.tape))
        return None if number is None else number << 32 | node.row


def _values(nodes: _Nodes, column: Column, kind: SequenceType) -> Iterator[Any]:
    """The argument of each row."""
    for row in pairs(column):
        items = [nodes.out(value) if tag == a.NODE else value for tag, value in row]
        if kind.at_most == 1:
            yield items[0] if items else None
        else:
            yield items


def _guarded(head: Signature, python: Callable[..., Any], arguments: Any) -> Any:
    try:
        return python(*arguments)
    except Error:
        raise
    except Exception as caught:
        why = f"{type(caught).__name__}: {caught}"
        raise error("XSCD0002", f"the function {head.local} failed: {why}") from caught


# -- results ---------------------------------------------------------------------------------


def _result(head: Signature, nodes: _Nodes, made: Any) -> list[tuple[int, Any]]:
    """What the function gave for a row, as items of the declared type."""
    kind = head.result
    values = list(made) if isinstance(made, list | tuple) else [] if made is None else [made]
    if len(values) < kind.at_least or (kind.at_most is not None and len(values) > kind.at_most):
        raise _unfit(head, "as many items as its type says", made)
    return [_item(head, nodes, value) for value in values]


def _item(head: Signature, nodes: _Nodes, value: Any) -> tuple[int, Any]:
    from xstreamcast.tape.node import Node

    if isinstance(value, Node):
        handle = nodes.back(value)
        if handle is None:
            raise _unfit(head, "nodes of the trees it was given", value)
        return a.NODE, handle
    match head.result.item:
        case AtomicItem(tag):
            return tag, _atomic(head, tag, value)
        case _:
            return _inferred(head, value), value


def _atomic(head: Signature, tag: int, value: Any) -> Any:
    primitive = a.PRIMITIVE[tag]
    takes = _PYTHON.get(primitive)
    boolean = isinstance(value, bool) and primitive != a.BOOLEAN  # a bool is an int to Python
    if takes is not None and (not isinstance(value, takes) or boolean):
        raise _unfit(head, f"xs:{a.BY_TAG[tag].name}", value)
    if primitive == a.DECIMAL:
        return Decimal(value)
    return float(value) if primitive in (a.DOUBLE, a.FLOAT) else value


def _inferred(head: Signature, value: Any) -> int:
    for kind, tag in _TAG_OF:
        if isinstance(value, kind):
            return tag
    raise _unfit(head, "values that XQuery has", value)


def _unfit(head: Signature, wanted: str, made: Any) -> Error:
    got = f"{type(made).__name__} {made!r}"
    return error("XSCD0002", f"the function {head.local} must give {wanted}; got {got}")


def _column(rows: list[list[tuple[int, Any]]]) -> Column:
    import numpy as np

    flat = [item for row in rows for item in row]
    items = Items.mixed([tag for tag, _ in flat], [value for _, value in flat])
    return Column(items, offsets_of(np.array([len(row) for row in rows], np.int64)))
