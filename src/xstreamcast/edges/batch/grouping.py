"""Groups computed by tasks: each groups its own tuples, buckets of keys are merged.

A bucket has all tuples of its groups. A key's bucket follows from what equal keys have in common,
whatever their types: numbers count as doubles there. The clause itself decides which are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.edges.batch.task import CLASSES, ClockBinding, answer_rows, failing, rows
from xstreamcast.edges.table.schema import arrow
from xstreamcast.evaluate.calls import library_call
from xstreamcast.evaluate.context import Context
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.flwor.group import group_by
from xstreamcast.evaluate.flwor.tuples import gathered
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.compare import hash_keys
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import BOOLEAN, DOUBLE, INTEGER, MAP, NODE
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.operators.batch.ranks import classes, ranks, told_classes
from xstreamcast.operators.batch.sending import decoded, encoded
from xstreamcast.operators.batch.values import all_rows, packed, unpacked
from xstreamcast.operators.kept_items import UnwrittenNode, placed, read, written

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.circuit.batch.groups import Groups, PartialFold
    from xstreamcast.edges.binding import Options
    from xstreamcast.history.query import When
    from xstreamcast.model.date_time import DateTime
    from xstreamcast.tape.store import Store

_NUMBERS: Final = frozenset({INTEGER, DOUBLE})  # classes between which equality is not transitive
_ROWS: Final = -1  # the variable of the number of each row


@dataclass(frozen=True, slots=True)
class GroupBlock:
    """What a task emits of the groups of a bucket: their numbers, their keys, what is used."""

    numbers: Sequence[int]
    keys: Sequence[Any]
    uses: Sequence[Any]


# -- in a task over a part of the input -----------------------------------------------------------


def grouped(
    groups: Groups, number: int, place: int, context: Context, buckets: int
) -> Iterator[Any]:
    """Blocks of the groups that the tuples of a part of the input belong to."""

    def ask() -> tuple[list[Column], list[Column]]:
        body = context.program.body
        assert isinstance(body, p.Return)
        assert isinstance(body.source, p.GroupBy)
        assert isinstance(body.result, p.Comma)
        tuples = gathered(body.source.source, context.root)
        if tuples.n == 0:
            return [], []
        made = group_by(body.source, tuples, context.root)
        keys = [made.variable(key.variable.number) for key in body.source.keys]
        return keys, [
            _folded(use, evaluate(value, made), made)
            for use, value in zip(groups.partials, body.result.parts, strict=True)
        ]

    keys, uses = deep(ask)
    if not keys:
        return
    bucket = np.array(_buckets(keys, context.inputs.timezone), np.int64) % buckets
    for one in np.unique(bucket).tolist():
        mine = np.flatnonzero(bucket == one)
        told_of = ([_packed(c.take(mine), context) for c in cs] for cs in (keys, uses))
        yield rows(number, place, one, value=encoded((mine.tolist(), *told_of)))


def _folded(use: PartialFold, column: Column, frame: Frame) -> Column:
    """As little of a value as it can be put together from."""
    match use.fold:
        case "count" | "exists" | "empty":
            return Column(Items.of(INTEGER, column.lengths().tolist()))
        case "items":
            return column
        case "sum" | "avg":  # added in order when all are there: doubles do not add up otherwise
            return atomize(frame.context.store, column)
        case _:
            return called(use.fold, atomize(frame.context.store, column), frame)


def called(name: str, column: Column, frame: Frame) -> Column:
    """A function of one sequence, for each row."""
    function = lookup(FN, name, 1)
    assert function is not None
    return library_call(function, [column], frame, None)


def _packed(column: Column, context: Context) -> tuple[Any, Any, Any]:
    """Lengths, and the items: nodes in words, others as arrays."""
    tags = column.items.all_tags()
    if (tags >= MAP).any():
        raise UnwrittenNode
    if (tags == NODE).any():
        return column.lengths().tolist(), written({"": column.items}, context.store)[""], None
    return column.lengths().tolist(), None, packed(column.items)


def _unpacked(sent: Sequence[tuple[Any, Any, Any]], store: Store) -> Column:
    parts = []
    for _, nodes, atoms in sent:
        parts.append(unpacked(atoms) if nodes is None else placed(read({"": nodes}), store)[""])
    return Column.from_lengths(
        Items.concat(parts), np.concatenate([np.array(one[0], np.int64) for one in sent])
    )


def _buckets(keys: list[Column], timezone: int) -> list[int]:
    """Numbers that are equal where the keys are."""
    found = [0] * keys[0].n
    for column in keys:
        values = iter(hash_keys(column.items, inexact=True, timezone=timezone).tolist())
        for row, length in enumerate(column.lengths().tolist()):
            code = _code(next(values)) if length else 1
            found[row] = (31 * found[row] + code) & 0x7FFFFFFF
    return found


def _code(key: Any) -> int:
    """A number for a value that is the same in every process."""
    match key:
        case str():
            return crc32(key.encode("utf-8", "surrogatepass"))
        case bytes():
            return crc32(key)
        case tuple():
            code = 0
            for one in key:
                code = (31 * code + _code(one)) & 0x7FFFFFFF
            return code
        case _:
            return hash(key) & 0x7FFFFFFF  # of numbers: equal ones have the same everywhere


# -- in a task over some buckets ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GroupsTask:
    """Groups merged from blocks, and the query evaluated for each."""

    groups: Groups
    program: Program
    inputs: Mapping[str, Any]  # values of variables
    options: Options
    when: When | None
    current: DateTime
    form: str
    is_answer: bool = True  # what groups give; else something follows from it

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow()
        blocks: list[tuple[int, bytes]] = []
        for batch in batches:
            mask = pa.compute.less(batch.column("part"), 0)
            yield batch.filter(mask)  # what went wrong
            kept = batch.filter(pa.compute.invert(mask))
            both = kept.column("place").to_pylist(), kept.column("value").to_pylist()
            blocks += zip(*both, strict=True)
        if blocks:
            yield from failing(lambda: self._answer(sorted(blocks)))

    def _answer(self, sent: list[tuple[int, bytes]]) -> Iterator[Any]:
        program = replace(self.program, body=self.groups.rest)
        asking = ClockBinding(program, self.inputs, self.options, self.when, self.current)
        context = Context(*deep(partial(asking.prepared, None)))
        blocks = [(place, GroupBlock(*decoded(one))) for place, one in sent]
        order, met, result = deep(partial(self._evaluated, context, blocks))
        yield rows(CLASSES, 0, value=told_classes(met))
        if not self.is_answer:
            yield rows(0, sent[0][0], value=all_rows(order, result, context))
            return
        yield from answer_rows(0, sent[0][0], context.store, result.items, self.form, order, result)

    def _evaluated(
        self, context: Context, blocks: list[tuple[int, GroupBlock]]
    ) -> tuple[list[bytes], Any, Column]:
        timezone = context.inputs.timezone
        numbers = [one.numbers for _, one in blocks]
        places = np.repeat([place for place, _ in blocks], [len(one) for one in numbers])
        first = np.stack([places, np.concatenate(numbers)], 1).astype(">i8")  # where each appears
        frame, keys = self._whole(context, [one for _, one in blocks], len(first))
        body = context.program.body
        assert isinstance(body, p.Return)
        assert isinstance(body.result, p.Comma)
        tuples = gathered(body.source, frame)
        result, *order = (evaluate(one, tuples) for one in body.result.parts)
        sorted_by = [atomize(context.store, one) for one in order]
        at = frame.variable(_ROWS)
        row = at.items.values[at.bounds()[:-1]].astype(np.int64)[tuples.origin_in(frame)]
        behind = [one.tobytes() for one in first[row]]
        if sorted_by:
            before = ranks(self.groups.order, sorted_by, timezone)
            behind = [a + b for a, b in zip(before, behind, strict=True)]
        met = tuple(one & _NUMBERS for one in classes(keys)) + classes(sorted_by)
        return behind, met, result

    def _whole(
        self, context: Context, blocks: list[GroupBlock], n: int
    ) -> tuple[Frame, list[Column]]:
        """A row for each group, in the order in which they first appear."""
        keys = [
            _unpacked(one, context.store) for one in zip(*(b.keys for b in blocks), strict=True)
        ]
        uses = [
            _unpacked(one, context.store) for one in zip(*(b.uses for b in blocks), strict=True)
        ]
        after = [key.variable for key in self.groups.group.keys]
        before = [p.Variable(-2 - at, "key") for at in range(len(keys))]
        own = [one.variable for one in self.groups.partials]
        values: dict[Key, Value] = {_ROWS: Column(Items.of(INTEGER, list(range(n))))}
        values |= {v.number: c for v, c in zip((*before, *own), (*keys, *uses), strict=True)}
        tuples = Frame(context, n, context.root, np.zeros(n, np.int64), values)
        clause = p.GroupBy(
            p.Unit(),
            tuple(p.GroupKey(a, p.Var(b)) for a, b in zip(after, before, strict=True)),
            tuple((one, one) for one in (p.Variable(_ROWS, "row"), *own)),
        )
        made = group_by(clause, tuples, context.root)
        whole: dict[Key, Value] = {
            use.variable.number: _unfolded(use, made.variable(use.variable.number), made)
            for use in self.groups.partials
        }
        return made.extend(whole), keys


def _unfolded(use: PartialFold, column: Column, frame: Frame) -> Column:
    """A value of complete groups from the partial values of tasks."""
    match use.fold:
        case "items":
            return column
        case "count":
            return called("sum", column, frame)
        case "exists" | "empty":
            found = called("sum", column, frame).items.values > 0
            return Column(Items.of(BOOLEAN, (found == (use.fold == "exists")).tolist()))
        case _:
            return called(use.fold, column, frame)
