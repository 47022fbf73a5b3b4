"""The dynamic context of one evaluation: what is the same for every frame."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from xstreamcast.algebra.lowering.linking import Modules, no_modules
from xstreamcast.errors import Error, error, not_given
from xstreamcast.evaluate.facts import ReadBook
from xstreamcast.evaluate.frame import ITEM, LAST, POSITION, Frame, Key, Value
from xstreamcast.functions.call import CallContext, FetchedText, FocusColumns, StaticContext
from xstreamcast.model.atomic import INTEGER
from xstreamcast.model.column import Column
from xstreamcast.model.date_time import DateTime
from xstreamcast.model.items import Items
from xstreamcast.model.query_limits import exceeded, query_limits
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.plan import Namespaces
    from xstreamcast.algebra.program import GlobalVariable, Program
    from xstreamcast.errors import Place, Span
    from xstreamcast.evaluate.direct.entry import DirectCalls
    from xstreamcast.evaluate.single.codes import Code
    from xstreamcast.evaluate.time.moments import Moment
    from xstreamcast.evaluate.time.reaching import FutureStreams
    from xstreamcast.model.function_item import FunctionItem

# Whether frames of one row have rules of their own: tests evaluate the same cases both ways.
SINGLE_ROWS = os.environ.get("XSC_SINGLE_ROWS") != "off"


def _silent(text: str) -> None:
    """Discard trace output."""


def _no_documents(uri: str) -> int:
    raise not_given("FODC0002", f"{uri} is not among the documents this query may read")


def no_streams(name: str) -> Items:
    """Nothing was handed in."""
    raise not_given("FODC0002", f"there is no input named {name}")


def now() -> DateTime:
    """The instant of the wall clock, in UTC."""
    at = datetime.now(UTC)
    nanos = ((at.hour * 60 + at.minute) * 60 + at.second) * 1_000_000_000 + at.microsecond * 1000
    return DateTime.of(at.year, at.month, at.day, nanos, 0)


@dataclass(slots=True)
class Inputs:
    """The inputs that a caller passes to a query.

    `documents` returns the document node of an address that the query may read, `texts` its bytes
    and encoding; `collections` the items of a collection (None: the default one), `addresses`
    theirs; `environment` the variables that the query may see; `modules` what it may load;
    `streams` what has arrived on a named input; `variables` values for external variables by
    (namespace, local); `clock` the instant that is `now`, None for `current`; `reach` what
    projections see that end after it, None where nothing is planned.
    """

    store: Store = field(default_factory=Store)
    item: Items | None = None
    variables: Mapping[tuple[str, str], Items] = field(default_factory=dict)
    documents: Callable[[str], int] = _no_documents
    texts: Callable[[str], FetchedText] | None = None
    collections: Callable[[str | None], Items] | None = None
    addresses: Callable[[str | None], Sequence[str]] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    modules: Modules = no_modules
    streams: Callable[[str], Items] = no_streams
    clock: Moment | None = None
    reach: FutureStreams | None = None
    trace: Callable[[str], None] = _silent
    current: DateTime = field(default_factory=now)
    timezone: int = 0


class Depth:
    """Counts calls inside calls, so that endless recursion is an error and not a crash."""

    def __init__(self) -> None:
        self.calls = self.rows = 0
        limits = query_limits()
        self._deepest, self._most = limits.max_recursion, limits.max_open_rows

    def enter(self, rows: int = 1) -> None:
        """One call further in, for so many rows."""
        self.calls += 1
        self.rows += rows
        if self.calls > self._deepest or self.rows > self._most:
            self.leave(rows)
            raise self._exceeded()

    def leave(self, rows: int = 1) -> None:
        """Back from it."""
        self.calls -= 1
        self.rows -= rows

    def left(self) -> int:
        """How many calls may still be opened inside each other, after the next one."""
        return min(self._deepest - self.calls, self._most - self.rows) - 1

    def _exceeded(self) -> Error:
        if self.calls >= self._deepest:
            said = f"functions call each other more than {self._deepest:,} deep"
            return exceeded("max_recursion", said, "XSCD0001")
        said = f"calls inside each other hold more than {self._most:,} rows"
        return exceeded("max_open_rows", said)


class Context:
    """One evaluation of a program: its inputs, its root frame, and what is remembered meanwhile."""

    def __init__(self, program: Program, inputs: Inputs) -> None:
        self.program = program
        self.inputs = inputs
        self.store = inputs.store
        self.reads = ReadBook()
        self.constants: dict[int, Items] = {}
        self.codes: dict[int, Code] = {}  # how expressions are evaluated for one row
        self.by_position: dict[tuple[int, int], Column] = {}  # what reads positions 1 to n only
        # Where variables change, each is looked up when it is read.
        self.one_by_one = SINGLE_ROWS and not program.settings.sequential
        self.assigned: dict[Key, Column] = {}  # variables that `set` has changed
        self.sequential = program.settings.sequential
        self._depth = Depth()
        self._direct: DirectCalls | None = None
        self._opened: dict[str, int] = {}
        self._collections: dict[str | None, Items] = {}
        self._statics: dict[int, StaticContext] = {}
        self._active: set[Key] = set()  # global variables whose value is being found
        self.static = program.static
        self.source = program.source
        self.visible = program.visible
        self._modules: dict[int, Context] = {0: self}
        self.root = Frame(self, 1, values=self._root_values())
        self._keys = tuple(self.root.values)

    def of_module(self, number: int) -> Context:
        """The context for the code of a module: the same evaluation, its own names and text."""
        found = self._modules.get(number)
        if found is None:
            library = self.program.libraries[number - 1]
            found = self._modules[number] = copy(self)
            found.static, found.source = library.static, library.source
            found.visible = library.visible
            # No frame around it: what is evaluated once for all must be so in its own module.
            found.root = Frame(found, 1, values={key: self._of_root(key) for key in self._keys})
        return found

    def _of_root(self, key: Key) -> Value:
        return lambda: self.root.get(key)  # type: ignore[return-value]

    def place(self, span: Span) -> Place | None:
        """Where in the query text; None for what has no place there."""
        return self.source.place(span) if span != (0, 0) else None

    def deeper(self) -> Depth:
        """What counts calls inside calls."""
        return self._depth

    def direct(self) -> DirectCalls | None:
        """The declared functions that are called as Python functions; None: no rule may."""
        if not self.one_by_one:
            return None
        first = self._modules[0]
        if first._direct is None:
            from xstreamcast.evaluate.direct.entry import DirectCalls

            first._direct = DirectCalls(first)
        return first._direct

    def frame(self, n: int) -> Frame:
        """n rows that see global variables only."""
        if n == 1:
            return self.root
        import numpy as np

        return Frame(self, n, self.root, np.zeros(n, np.int64))

    # -- for functions --------------------------------------------------------------------------

    def call(
        self, n: int, focus: FocusColumns | None = None, namespaces: Namespaces | None = None
    ) -> CallContext:
        """The dynamic context of a call of a function body."""
        static = self.static if namespaces is None else self._static(namespaces)
        inputs = self.inputs
        return CallContext(
            n, self.store, static, inputs.current, focus, inputs.timezone,
            self.document, inputs.trace, self.invoke, inputs.texts, self.declared,
            self.collection, inputs.addresses, inputs.environment, self.load,
        )  # fmt: skip

    def invoke(self, function: FunctionItem, arguments: Sequence[Column]) -> Column:
        """A function item called for as many rows as its arguments have."""
        from xstreamcast.evaluate.function_items import invoke

        return invoke(function, arguments, self.frame(arguments[0].n if arguments else 1))

    def declared(self, uri: str, local: str, arity: int) -> FunctionItem | None:
        """The function that the query itself declares under a name."""
        from xstreamcast.evaluate.function_items import declared_item

        index = self.visible.get((uri, local, arity))
        return None if index is None else declared_item(self, index)

    def collection(self, uri: str | None) -> Items:
        """The items of a collection, the same each time."""
        if uri not in self._collections:
            if self.inputs.collections is None:
                raise error("FODC0002", "this query may read no collection")
            self._collections[uri] = self.inputs.collections(uri)
        return self._collections[uri]

    def load(self, *request: Any) -> Any:
        """A library module loaded while the query runs."""
        from xstreamcast.evaluate.loading import load

        return load(self, *request)

    def document(self, uri: str) -> int:
        """The document node for an address, the same each time."""
        if uri not in self._opened:
            self._opened[uri] = self.inputs.documents(uri)
        return self._opened[uri]

    def _static(self, namespaces: Namespaces) -> StaticContext:
        known = self._statics.get(id(namespaces))
        if known is None:
            known = replace(self.static, namespaces=dict(namespaces))
            self._statics[id(namespaces)] = known
        return known

    # -- the outermost frame ----------------------------------------------------------------------

    def _root_values(self) -> dict[Key, Value]:
        values: dict[Key, Value] = {
            declared.variable.number: self._global(declared) for declared in self.program.variables
        }
        values[ITEM] = self._context_item
        values[POSITION] = values[LAST] = lambda: self._one_if_focused()
        return values

    def _one_if_focused(self) -> Any:
        return None if self.root.get(ITEM) is None else Column(Items.of(INTEGER, [1]))

    def _context_item(self) -> Any:
        """The given item, or the declared one; None where there is neither."""
        from xstreamcast.evaluate.typing.conversion import checked

        found = self._own_context_item()
        for library in self.program.libraries:
            if found is not None and library.context is not None:
                role = f"the context item, for the module {library.uri},"
                checked(self.root, found, library.context, role)
        return found

    def _own_context_item(self) -> Any:
        from xstreamcast.evaluate.typing.conversion import checked
        from xstreamcast.evaluate.walk import evaluate

        declared, given = self.program.context, self.inputs.item
        if declared is None:
            return None if given is None else Column(given)
        if given is not None:
            return checked(self.root, Column(given), declared.type, "the context item")
        if declared.value is None:
            return None
        self.root.values[ITEM] = None  # its own value must not depend on it
        return evaluate(declared.value, self.root)

    def _global(self, declared: GlobalVariable) -> Callable[[], Column]:
        def value() -> Column:
            from xstreamcast.evaluate.walk import evaluate

            given = self.inputs.variables.get((declared.uri, declared.local))
            if declared.external and given is not None:
                return self._given(declared, given)
            if declared.value is None:
                raise not_given(
                    "XPDY0002", f"the external variable ${declared.local} has no value",
                    at=self.place(declared.span), hint=f"give it one: -b {declared.local}=…",
                )  # fmt: skip
            if declared.variable.number in self._active:
                raise error("XQDY0054", at=self.place(declared.span))
            self._active.add(declared.variable.number)
            try:
                return evaluate(declared.value, self.of_module(declared.module).root)
            finally:
                self._active.discard(declared.variable.number)

        return value

    def _given(self, declared: GlobalVariable, items: Items) -> Column:
        from xstreamcast.evaluate.typing.conversion import checked, converted
        from xstreamcast.model.atomic import UNTYPED

        column = Column.constant(items, 1)
        role = f"the value of ${declared.local}"
        fit = converted if items.tag == UNTYPED else checked
        try:
            return fit(self.root, column, declared.type, role)
        except Error as why:  # the value has no place, its variable has
            raise why.located(self.place(declared.span)) from None
