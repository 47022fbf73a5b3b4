"""The way in: calls of declared functions that have become Python functions."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from xstreamcast.algebra.plan import UserCall
from xstreamcast.algebra.walk import descendants
from xstreamcast.errors import Error
from xstreamcast.evaluate.direct.compiling import CompiledFunctions, compiled
from xstreamcast.evaluate.direct.primitives import PRIMITIVES, Unfit
from xstreamcast.evaluate.direct.shapes import EMPTY, KINDS, Unsupported, ValueShape, declared
from xstreamcast.model.atomic import MIXED
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.model.row import NOTHING, SHORT, SingleRow
from xstreamcast.model.sequence_type import AnyItem, AtomicItem, AtomicUnion

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program, UserFunction
    from xstreamcast.evaluate.context import Context

CALLS = 64  # of a function, before its text is worth writing
_ROWS: Final = 512  # of a batch of recursive calls; columns are faster for more
_LONGEST: Final = 4096  # items of an argument
_PROGRAMS: Final = 64  # whose texts are kept

_Cells: TypeAlias = tuple[int, tuple[Any, ...]]  # a type, and items of it


class FunctionTexts:
    """What is known of the functions of one program, across its evaluations."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.calls = [0] * len(program.functions)
        self._known: dict[tuple[int, tuple[ValueShape, ...]], CompiledFunctions | None] = {}
        self._recursive: frozenset[int] | None = None

    def is_recursive(self, function: int) -> bool:
        """Whether a call of the function may lead to calls of one function inside each other."""
        if self._recursive is None:
            self._recursive = _recursive(self.program)
        return function in self._recursive

    def of(self, function: int, shapes: tuple[ValueShape, ...]) -> CompiledFunctions | None:
        """The code of a function for arguments of these shapes, generated on first use."""
        key = function, shapes
        if key not in self._known:
            self._known[key] = compiled(self.program, function, shapes)
        return self._known[key]


def _recursive(program: Program) -> frozenset[int]:
    """The functions that call themselves, by way of others too, or lead to such a one."""
    calls = {
        number: {one.function for one in descendants(function.body) if isinstance(one, UserCall)}
        for number, function in enumerate(program.functions)
    }
    reached = {number: set(called) for number, called in calls.items()}
    for between in reached:
        for called in reached.values():
            if between in called:
                called |= reached[between]
    circles = {number for number, called in reached.items() if number in called}
    return frozenset(number for number, called in reached.items() if called & circles)


_texts: Final[OrderedDict[tuple[int, ...], FunctionTexts]] = OrderedDict()


def texts_of(program: Program) -> FunctionTexts:
    """The texts of a program; those of programs that were long not run are dropped."""
    # A strategy makes another program of the same functions; a text keeps them, so ids are safe.
    key = tuple(id(one.body) for one in program.functions)
    known = _texts.pop(key, None) or FunctionTexts(program)
    _texts[key] = known
    while len(_texts) > _PROGRAMS:
        _texts.popitem(last=False)
    return known


class DirectCalls:
    """The Python functions of one evaluation; one that met an unfit value is not called again."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._texts = texts_of(context.program)
        self.on = [_may_be_atomic(one) for one in context.program.functions]
        self._ready: dict[tuple[int, tuple[ValueShape, ...]], _Ready] = {}

    def called(self, function: int, arguments: Sequence[Column]) -> Column | None:
        """The value of one call; None: it is for the other rules."""
        if not self._worth(function, 1):
            return None
        given = [_cells(argument) for argument in arguments]
        ready = self._found(function, given)
        found = None if ready is None else self._tried(function, ready, [given])
        return None if found is None or ready is None else _row(ready.shape, found[0])

    def of_rows(self, function: int, arguments: Sequence[Column], n: int) -> Column | None:
        """The values of the calls of a small batch, if they are recursive."""
        if n > _ROWS or not self._texts.is_recursive(function) or not self._worth(function, n):
            return None
        columns = [_rows(argument) for argument in arguments]
        given = [list(row) for row in zip(*columns, strict=True)] if columns else [[]] * n
        ready = self._found(function, given[0])
        if ready is None:
            return None
        found = self._tried(function, ready, given)
        return None if found is None else _column(ready.shape, found)

    def _worth(self, function: int, n: int) -> bool:
        calls = self._texts.calls
        calls[function] += n
        return self.on[function] and calls[function] > CALLS

    def _found(self, function: int, given: Sequence[_Cells]) -> _Ready | None:
        """The function for arguments like these."""
        shapes = self._shapes(function, given)
        if shapes is None:
            return None
        ready = self._ready.get((function, shapes))
        if ready is None:
            known = self._texts.of(function, shapes)
            if known is None:
                self.on[function] = False
                return None
            ready = self._ready[function, shapes] = _Ready(known, shapes, self._context)
        return ready

    def _shapes(self, function: int, given: Sequence[_Cells]) -> tuple[ValueShape, ...] | None:
        parameters = self._context.program.functions[function].parameters
        try:
            return tuple(
                declared(parameter.type, _shape(one))
                for parameter, one in zip(parameters, given, strict=True)
            )
        except Unsupported:
            return None

    def _tried(
        self, function: int, ready: _Ready, rows: Sequence[Sequence[_Cells]]
    ) -> list[Any] | None:
        """The result of every row; None if a single one does not fit."""
        depth = self._context.deeper().left()
        try:
            return [ready.function(*map(_value, row, ready.shapes), depth) for row in rows]
        except (Unfit, OverflowError):
            self.on[function] = False
            return None


def _may_be_atomic(function: UserFunction) -> bool:
    types = (*(parameter.type for parameter in function.parameters), function.result)
    return all(isinstance(one.item, AnyItem | AtomicItem | AtomicUnion) for one in types)


class _Ready:
    """A function of this evaluation: it sees its variables, and raises no error of its own."""

    def __init__(
        self, known: CompiledFunctions, shapes: tuple[ValueShape, ...], context: Context
    ) -> None:
        self.shapes, self.shape = shapes, known.result
        names: dict[str, Any] = {**PRIMITIVES, **known.constants}
        names |= {f"G{number}": None for number in known.variables}

        def load(number: int) -> Any:
            shape = known.variables[number]
            try:
                value = _value(_cells(context.root.variable(number)), shape)
            except Error:
                raise Unfit from None  # the other rules raise it, with its place
            names[f"G{number}"] = value
            return value

        names["load"] = load
        exec(known.code, names)
        self.function: Callable[..., Any] = names[known.name]


# -- columns and Python values ---------------------------------------------------------------------


def _cells(column: Column) -> _Cells:
    """The type and the items of the only row; no type that is known here if there are many."""
    if column.__class__ is SingleRow:
        return column.tag, column.cells
    items = column.items
    if len(items) > _LONGEST or items.tag not in KINDS:
        return (items.tag if len(items) == 0 else MIXED), ()
    return items.tag, tuple(items.values.tolist())


def _rows(column: Column) -> list[_Cells]:
    """The same for each row."""
    items = column.items
    if items.tag not in KINDS and len(items):
        return [(MIXED, ())] * column.n
    tag, values, bounds = items.tag, items.values.tolist(), column.bounds().tolist()
    return [(tag, tuple(values[a:b])) for a, b in pairwise(bounds)]


def _shape(given: _Cells) -> ValueShape:
    tag, cells = given
    if tag in KINDS and cells:
        return ValueShape(tag, "one" if len(cells) == 1 else "many")
    if tag == MIXED or cells:
        raise Unsupported
    return EMPTY


def _value(given: _Cells, shape: ValueShape) -> Any:
    """What the Python function takes; Unfit if it is written for another type."""
    tag, cells = given
    if (cells and tag != shape.kind) or tag == MIXED:
        raise Unfit
    if shape.occurs == "many":
        return cells
    if len(cells) > 1 or (not cells and shape.occurs == "one"):
        raise Unfit
    return cells[0] if cells else None


def _row(shape: ValueShape, value: Any) -> Column:
    if shape.occurs == "many":
        if len(value) > SHORT:
            return Column.from_rows([value], shape.kind)
        return SingleRow(shape.kind, value) if value else NOTHING
    return NOTHING if value is None else SingleRow(shape.kind, (value,))


def _column(shape: ValueShape, values: list[Any]) -> Column:
    match shape.occurs:
        case "one":
            return Column(Items.of(shape.kind, values))
        case "optional":
            values = [() if value is None else (value,) for value in values]
    if not any(values):
        return Column.empty(len(values))
    return Column.from_rows(values, shape.kind)
