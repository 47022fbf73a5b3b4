"""What a task of a history query does: it evaluates parts of the query over a part of an input."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.edges.binding import Binding, Options
from xstreamcast.edges.partitions.facts import error_facts
from xstreamcast.edges.table.schema import arrow
from xstreamcast.errors import Error
from xstreamcast.evaluate.context import Context
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.flwor.tuples import gathered
from xstreamcast.evaluate.pairs import at_most_one
from xstreamcast.evaluate.results.results import lines, records
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.model.atomic import ARRAY, BY_TAG, MAP, NODE
from xstreamcast.model.column import Column
from xstreamcast.operators.batch.around import OpenElements, sent_around
from xstreamcast.operators.batch.ranks import Classes, classes, ranks, told_classes
from xstreamcast.operators.batch.spine import sent_spine
from xstreamcast.operators.batch.values import no_rows, sent, sent_rows, summands
from xstreamcast.operators.kept_items import UnwrittenNode
from xstreamcast.tape.layout import KIND_NAMES

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.circuit.batch.groups import Groups
    from xstreamcast.circuit.batch.parts import BatchPart
    from xstreamcast.evaluate.context import Inputs
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.history.query import HistoryQuery, When
    from xstreamcast.model.date_time import DateTime
    from xstreamcast.model.items import Items
    from xstreamcast.tape.store import Store

# `value` holds values for further computation; the part FAILED has the error of a task.
FOUND: Final = "part int, place bigint, ordinal bigint, kind string, item string, value binary"
FAILED: Final = -1
UNSENT: Final = -2  # what it found cannot be sent to the driver
CLASSES: Final = -3  # which classes of keys it met
_ROWS: Final = 1 << 16  # items of one batch


@dataclass(frozen=True, slots=True)
class Question:
    """The query of all tasks of a run, and its values other than their part of the input."""

    parts: tuple[BatchPart, ...]
    programs: tuple[Program, ...]  # of each part, over an input of the name
    name: str
    inputs: Mapping[str, Any]  # what is read whole, and values of variables
    options: Options
    when: When | None
    current: DateTime
    listed: bool  # items are the answer as they are found; else something follows
    form: str = "lines"
    groups: Groups | None = None  # how the groups of the part are made
    buckets: int = 1  # into which their keys fall


class ClockBinding(Binding):
    """A binding whose clock is what the driver says."""

    def __init__(
        self, program: Program, inputs: Mapping[str, Any], options: Options, when: When | None,
        current: DateTime,
    ) -> None:  # fmt: skip
        super().__init__(program, inputs, options)
        self._given_when, self._current = when, current
        self.history_query: HistoryQuery | None = None

    def _bind(self, given: Inputs, history_query: HistoryQuery) -> None:
        super()._bind(given, history_query)
        self.history_query = history_query

    def _when(self, given: Inputs) -> When | None:
        given.current = self._current
        return self._given_when


def answered(
    question: Question, place: int, source: Any, open_: OpenElements | None = None
) -> Iterator[Any]:
    """Batches of what every part of the query finds in a part of the input.

    `open_`: how many elements of a document are open before that part, and behind it.
    """
    for number in range(len(question.parts)):
        inputs = {**question.inputs, question.name: source}
        asking = ClockBinding(
            question.programs[number], inputs, question.options, question.when, question.current
        )
        context = Context(*deep(partial(asking.prepared, None)))
        try:
            yield from _part(question, number, place, context, open_, asking.history_query)
        finally:
            del context.root  # they hold each other, and the bytes that were read


def _part(
    question: Question, number: int, place: int, context: Context, open_: OpenElements | None,
    history_query: HistoryQuery | None,
) -> Iterator[Any]:  # fmt: skip
    part = question.parts[number]
    if question.groups is not None:
        from xstreamcast.edges.batch.grouping import grouped

        yield from grouped(question.groups, number, place, context, question.buckets)
        return
    if part.fold == "rows":
        yield from _rows(question, number, place, context)
        return
    if part.order:
        yield from _sorted(number, place, context, question.form)
        return
    body = context.program.body
    body = body if part.around is None else part.around.nodes(body)
    items = deep(partial(evaluate, body, context.root)).items
    if part.around is not None and open_ is not None:
        document = int(context.inputs.streams(question.name).values[0])
        yield rows(number, place, value=sent_around(part, items, context, document, open_))
    elif part.around is not None:
        assert history_query is not None
        yield rows(
            number, place, value=sent_spine(part, items, context, history_query, question.name)
        )
    elif question.listed:
        yield from answer_rows(number, place, context.store, items, question.form)
    else:
        if part.fold in ("sum", "avg"):
            yield _classes(question, number, place, _summed(items, context))
        yield rows(number, place, value=sent(part, items, context))


def _summed(items: Items, context: Context) -> Classes:
    """The classes of what a part adds: integers and doubles are added in their order alone."""
    atoms = summands(items, context)
    return classes([Column(atoms, np.array([0, len(atoms)], np.int64))])


def _classes(question: Question, number: int, place: int, met: Classes) -> Any:
    """A batch that says which classes of values a part met; of other parts it says none."""
    widths = [max(1, len(one.order)) for one in question.parts]
    none = frozenset[int]()
    found = [met if at == number else (none,) * width for at, width in enumerate(widths)]
    return rows(CLASSES, place, value=told_classes(tuple(c for one in found for c in one)))


def _rows(question: Question, number: int, place: int, context: Context) -> Iterator[Any]:
    """Rows of a part that are sorted, or chosen by their positions, over all tasks."""
    part = question.parts[number]

    def ask() -> tuple[Classes, list[bytes], Column] | None:
        body = context.program.body
        assert isinstance(body, p.Return)
        source = body.source
        keys = source.keys if isinstance(source, p.OrderBy) else ()
        tuples = gathered(source.source if isinstance(source, p.OrderBy) else source, context.root)
        if tuples.n == 0:
            return None
        met, by = _ranked(keys, tuples, context) if keys else ((), [b""] * tuples.n)
        return met, by, evaluate(body.result, tuples)

    found = deep(ask)
    if found is None:
        yield rows(number, place, value=no_rows())
        return
    met, by, result = found
    if part.order:
        yield _classes(question, number, place, met)
    yield rows(number, place, value=sent_rows(part, by, result, context))


def answer_rows(
    number: int, place: int, store: Store, items: Items, form: str,
    ranks: list[bytes] | None = None, tuples: Column | None = None,
) -> Iterator[Any]:  # fmt: skip
    """Items as they are emitted, some at a time; those of tuples with the rank of theirs."""
    pa = arrow()
    by = None if tuples is None else tuples.rows()
    for first in range(0, len(items), _ROWS):
        last = min(first + _ROWS, len(items))
        some = items.slice(first, last)
        found = rows(number, place, first, _kinds(store, some), texts(store, some, form))
        if by is not None:
            mine = pa.array(ranks, pa.binary()).take(pa.array(by[first:last]))
            found = found.set_column(5, "value", mine)
        yield found


def texts(store: Store, items: Items, form: str) -> list[str]:
    """Items as lines, or as records in JSON."""
    if form == "records":
        return [json.dumps(one, ensure_ascii=False) for one in records(store, items)]
    return list(lines(store, items))


def _kinds(store: Store, items: Items) -> list[str]:
    """What each item is: a type, or a kind of nodes."""
    tags = items.all_tags()
    known = {int(tag): _kind(int(tag)) for tag in np.unique(tags)}
    found = [known[tag] for tag in tags.tolist()]
    if NODE in known:
        nodes = np.flatnonzero(tags == NODE)
        kinds = store.kinds(items.values[nodes].astype(np.int64)).tolist()
        for at, kind in zip(nodes.tolist(), kinds, strict=True):
            found[at] = KIND_NAMES[kind]
    return found


def _kind(tag: int) -> str:
    if tag not in BY_TAG:
        return {MAP: "map", ARRAY: "array"}.get(tag, "function")
    return f"xs:{BY_TAG[tag].name}"


def _sorted(number: int, place: int, context: Context, form: str) -> Iterator[Any]:
    """The results of tuples, each with bytes that encode its place among those of all tasks."""

    def ask() -> tuple[Any, Any]:
        body = context.program.body
        assert isinstance(body, p.Return)
        assert isinstance(body.source, p.OrderBy)
        tuples = gathered(body.source.source, context.root)
        if tuples.n == 0:
            return None, None
        return _ranked(body.source.keys, tuples, context), evaluate(body.result, tuples)

    met, result = deep(ask)
    if result is None:
        return
    yield rows(CLASSES, place, value=told_classes(met[0]))
    yield from answer_rows(number, place, context.store, result.items, form, met[1], result)


def _ranked(
    order: tuple[p.OrderKey, ...], tuples: Frame, context: Context
) -> tuple[Classes, list[bytes]]:
    """The classes of the keys of tuples, and bytes that sort as the keys do."""
    keys = [atomize(context.store, evaluate(key.value, tuples)) for key in order]
    for key in keys:
        at_most_one(key, "a key of order by")
    return classes(keys), ranks(order, keys, context.inputs.timezone)


def rows(
    part: int, place: int, first: int = 0, kinds: list[str] | None = None,
    found: list[str] | None = None, value: bytes | None = None,
) -> Any:  # fmt: skip
    """A batch of FOUND: items, or one value."""
    pa = arrow()
    n = 1 if found is None else len(found)
    zero = pa.array(np.zeros(n, np.int32))
    arrays = [
        pa.array([part], pa.int32()).take(zero),
        pa.array([place], pa.int64()).take(zero),
        pa.array(np.arange(first, first + n, dtype=np.int64)),
        pa.nulls(n, pa.string()) if kinds is None else pa.array(kinds, pa.string()),
        pa.nulls(n, pa.string()) if found is None else pa.array(found, pa.string()),
        pa.array([value], pa.binary()).take(zero),
    ]
    return pa.record_batch(arrays, ["part", "place", "ordinal", "kind", "item", "value"])


class Alone:
    """The complete query over complete inputs, in one task."""

    def __init__(
        self, programs: Mapping[str, Program], document: Any, inputs: Mapping[str, Any],
        options: Options, form: str,
    ) -> None:  # fmt: skip
        self.programs, self.document, self.inputs = programs, document, inputs
        self.options, self.form = options, form

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for _ in batches:
            yield from failing(self._answer)

    def _answer(self) -> Iterator[Any]:
        from xstreamcast.edges.pipelines import answered

        if len(self.programs) > 1:
            store, items, _ = answered(self.programs, self.document, self.inputs, self.options)
        else:
            binding = Binding(next(iter(self.programs.values())), self.inputs, self.options)
            items, store = binding.run(self.document), binding.store
        yield from answer_rows(0, 0, store, items, self.form)


def failing(answer: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """What a task finds, or the error that it met: the driver raises that one, and says it once."""
    try:
        yield from answer()
    except UnwrittenNode:
        yield rows(UNSENT, 0)
    except Error as refused:
        value = json.dumps(error_facts(refused)).encode()
        yield rows(FAILED, 0, found=[str(refused)], kinds=[refused.code], value=value)


__all__ = [
    "FAILED",
    "FOUND",
    "Alone",
    "ClockBinding",
    "Question",
    "answer_rows",
    "answered",
    "rows",
]
