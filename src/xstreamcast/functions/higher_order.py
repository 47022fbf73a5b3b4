"""Functions that call functions: for-each, filter, folds, and what a function is.

Rows with the same function are served together: one call for all their items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.registry import Function, function, lookup
from xstreamcast.functions.rows import integers, maybe, one_or
from xstreamcast.functions.sequences.sequences import reverse
from xstreamcast.functions.signature import PREFIXES
from xstreamcast.model.atomic import FUNCTION, QNAME
from xstreamcast.model.column import Column, gather, ranges, scatter, stack
from xstreamcast.model.function_item import Alike, FunctionItem, family_of
from xstreamcast.model.qname import QName
from xstreamcast.model.row import SingleRow

if TYPE_CHECKING:
    from xstreamcast.model.items import Items

    Ints = npt.NDArray[np.int64]


def invoke(call: CallContext, function: FunctionItem, arguments: Sequence[Column]) -> Column:
    """The function called for as many rows as its arguments have."""
    assert call.invoke is not None
    return call.invoke(function, arguments)


def by_function(
    functions: Column, columns: Sequence[Column], work: Callable[..., Column]
) -> Column:
    """work(functions, *columns) for the rows of each family of functions that occurs."""
    values = one_or(functions)
    groups: dict[Any, list[int]] = {}
    for row, value in enumerate(values):
        groups.setdefault(family_of(value), []).append(row)
    if len(groups) == 1:
        return work(Alike.of(values), *columns)
    parts = []
    for rows in groups.values():
        index = np.array(rows, np.int64)
        alike = Alike.of([values[row] for row in rows])
        parts.append((index, work(alike, *(column.take(index) for column in columns))))
    return scatter(functions.n, parts)


@function("fn:for-each($seq as item()*, $action as function(item()) as item()*) as item()*")
def for_each(call: CallContext, seq: Column, action: Column) -> Column:
    """The results of the function for each item, concatenated."""

    def work(f: Alike, items: Column) -> Column:
        return _each(call, f, items.rows(), [items.each()]).regroup(items.offsets)

    return by_function(action, [seq], work)


def _each(call: CallContext, f: Alike, rows: Ints, arguments: list[Column]) -> Column:
    return invoke(call, f.at(rows), arguments) if arguments[0].n else Column.empty(0)


@function("fn:filter($seq as item()*, $f as function(item()) as xs:boolean) as item()*")
def filter_(call: CallContext, seq: Column, test: Column) -> Column:
    """The items for which the function returns true."""

    def work(f: Alike, items: Column) -> Column:
        passed = _each(call, f, items.rows(), [items.each()])
        return items.keep(passed.items.values.astype(np.bool_))

    return by_function(test, [seq], work)


@function(
    "fn:for-each-pair($seq1 as item()*, $seq2 as item()*,"
    " $action as function(item(), item()) as item()*) as item()*"
)
def for_each_pair(call: CallContext, left: Column, right: Column, action: Column) -> Column:
    """The results of the function for the items at the same position of both sequences."""

    def work(f: Alike, a: Column, b: Column) -> Column:
        lengths = np.minimum(a.lengths(), b.lengths())
        both = [_first(column, lengths) for column in (a, b)]
        made = _each(call, f, both[0].rows(), [Column(column.items) for column in both])
        return made.regroup(both[0].offsets)

    return by_function(action, [left, right], work)


def _first(column: Column, lengths: Ints) -> Column:
    """So many items of each row."""
    places = ranges(column.bounds()[:-1], lengths)
    return Column.from_lengths(column.items.take(places), lengths)


# -- folds -----------------------------------------------------------------------------------


@function(
    "fn:fold-left($seq as item()*, $zero as item()*,"
    " $f as function(item()*, item()) as item()*) as item()*",
    blocking=(0,),
)
def fold_left(call: CallContext, seq: Column, zero: Column, f: Column) -> Column:
    """f(… f(f(zero, first), second) …, last)"""
    return by_function(f, [seq, zero], lambda g, a, b: _fold(call, g, a, b, swapped=False))


@function(
    "fn:fold-right($seq as item()*, $zero as item()*,"
    " $f as function(item(), item()*) as item()*) as item()*",
    blocking=(0,),
)
def fold_right(call: CallContext, seq: Column, zero: Column, f: Column) -> Column:
    """f(first, f(second, … f(last, zero) …))"""
    backwards = reverse(call, seq)
    return by_function(f, [backwards, zero], lambda g, a, b: _fold(call, g, a, b, swapped=True))


def _fold(call: CallContext, f: Alike, seq: Column, zero: Column, *, swapped: bool) -> Column:
    """One round for each place, for all rows that are so long."""
    if seq.n == 1:
        return _fold_of_one(call, f.first, seq, zero, swapped)
    lengths, starts, held = seq.lengths(), seq.bounds()[:-1], zero
    for place in range(int(lengths.max(initial=0))):
        rows = np.flatnonzero(lengths > place)
        pair = [held.take(rows), Column(seq.items.take(starts[rows] + place))]
        made = invoke(call, f.at(rows), pair[::-1] if swapped else pair)
        rest = np.flatnonzero(lengths <= place)
        held = scatter(seq.n, [(rows, made), (rest, held.take(rest))])
    return held


def _fold_of_one(
    call: CallContext, f: FunctionItem, seq: Column, zero: Column, swapped: bool
) -> Column:
    held = zero
    for item in _one_by_one(seq.items):
        held = invoke(call, f, [item, held] if swapped else [held, item])
    return held


def _one_by_one(items: Items) -> Iterator[Column]:
    """A column for each item; text that was not read stays so."""
    if items.nodes is not None:
        return (Column(items.slice(place, place + 1)) for place in range(len(items)))
    return (SingleRow(tag, (value,)) for tag, value in items.pairs())


@function("fn:apply($function as function(*), $array as array(*)) as item()*")
def apply(call: CallContext, func: Column, array: Column) -> Column:
    """The function called with the members of an array as its arguments."""
    made = []
    for f, members in zip(one_or(func), one_or(array), strict=True):
        if f.arity != len(members):
            sentence = f"the function takes {f.arity} arguments; the array has {len(members)}"
            raise error("FOAP0001", sentence)
        made.append(invoke(call, f, [gather([cell]) for cell in members.cells()]))
    return stack(made) if made else Column.empty(0)


# -- what a function is ----------------------------------------------------------------------


@function("fn:function-name($func as function(*)) as xs:QName?")
def function_name(call: CallContext, func: Column) -> Column:
    """The name of a function, () if it has none."""
    names = (value.name for value in one_or(func))
    return maybe(QNAME, (_prefixed(*name) if name else None for name in names))


def _prefixed(uri: str, local: str) -> QName:
    prefix = next((known for known, bound in PREFIXES.items() if bound == uri), "")
    return QName(uri, local, prefix)


@function("fn:function-arity($func as function(*)) as xs:integer")
def function_arity(call: CallContext, func: Column) -> Column:
    """How many arguments a function takes."""
    return integers(value.arity for value in one_or(func))


@function("fn:function-lookup($name as xs:QName, $arity as xs:integer) as function(*)?", focus=True)
def function_lookup(call: CallContext, name: Column, arity: Column) -> Column:
    """The function with this name and number of arguments, () if there is none."""
    cells = zip(one_or(name), one_or(arity), strict=True)
    return maybe(FUNCTION, (_found(call, q, n, i) for i, (q, n) in enumerate(cells)))


def _found(call: CallContext, name: QName, arity: int, row: int) -> FunctionItem | None:
    if call.declared is not None:
        own = call.declared(name.uri, name.local, arity)
        if own is not None:
            return own
    known = lookup(name.uri, name.local, arity)
    return None if known is None else _item(call, known, arity, row)


def _item(call: CallContext, known: Function, arity: int, row: int) -> FunctionItem:
    more = arity - known.arity
    types = known.parameters + known.parameters[-1:] * more if more > 0 else known.parameters
    focus = call.focus
    if known.focus and focus is not None:
        parts = (focus.item, focus.position, focus.last)
        item, position, last = (column.take(np.array([row])) for column in parts)

    def body(inner: CallContext, *arguments: Column) -> Column:
        if not known.focus or focus is None:
            return known.body(replace(inner, focus=None), *arguments)
        rows = np.zeros(inner.n, np.int64)
        there: Any = type(focus)(item.take(rows), position.take(rows), last.take(rows))
        return known.body(replace(inner, focus=there), *arguments)

    return FunctionItem((known.uri, known.local), arity, types, known.result, body)
