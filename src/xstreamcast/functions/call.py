"""The dynamic context of a call, which a function body receives with its arguments."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.errors import error
from xstreamcast.functions.decimal_format import DecimalFormat
from xstreamcast.functions.signature import FN
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.model.column import Column
    from xstreamcast.model.date_time import DateTime
    from xstreamcast.model.function_item import FunctionItem
    from xstreamcast.model.items import Items

CODEPOINT: Final = "http://www.w3.org/2005/xpath-functions/collation/codepoint"


@dataclass(frozen=True, slots=True)
class StaticContext:
    """What the prolog and the caller fixed before anything ran."""

    namespaces: Mapping[str, str] = field(default_factory=dict)
    default_element: str = ""
    default_function: str = FN
    base_uri: str | None = None
    collation: str = CODEPOINT
    decimal_formats: Mapping[tuple[str, str] | None, DecimalFormat] = field(
        default_factory=lambda: {None: DecimalFormat()}
    )

    @property
    def in_scope(self) -> Mapping[str, str]:
        """Prefixes that casts read, with "" for the default namespace of elements."""
        return ChainMap({"": self.default_element}, self.namespaces)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class FocusColumns:
    """The context item of each row with its position and the size of its sequence."""

    item: Column
    position: Column
    last: Column

    def row(self, i: int) -> FocusColumns:
        """The focus of one row."""
        return FocusColumns(*(c.slice(i, i + 1) for c in (self.item, self.position, self.last)))


@dataclass(frozen=True, slots=True)
class FetchedText:
    """A text by address: its bytes, and the encoding that came with them, None if none did."""

    data: bytes
    encoding: str | None = None


@dataclass(slots=True)
class CallContext:
    """The dynamic context of one call for n rows.

    `current` is the same for a whole evaluation; `timezone` is in minutes east of UTC; `documents`
    returns the document of a URI or raises FODC0002; `invoke` calls a function item for n rows;
    `texts` gives the bytes of a URI and their encoding, or raises FOUT1170; `declared` finds the
    functions of the query itself by namespace, local name and number of arguments; `collections`
    gives the items of a collection, `addresses` theirs; `load` loads a library module.
    """

    n: int
    store: Any
    static: StaticContext
    current: DateTime
    focus: FocusColumns | None = None
    timezone: int = 0
    documents: Callable[[str], int] | None = None
    trace: Callable[[str], None] = lambda text: None
    invoke: Callable[[FunctionItem, Sequence[Column]], Column] | None = None
    texts: Callable[[str], FetchedText] | None = None
    declared: Callable[[str, str, int], FunctionItem | None] | None = None
    collections: Callable[[str | None], Items] | None = None
    addresses: Callable[[str | None], Sequence[str]] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    load: Callable[..., Any] | None = None

    def context_item(self) -> Column:
        """The context item of every row, or XPDY0002."""
        if self.focus is None:
            raise error("XPDY0002")
        return self.focus.item


class SeveralCollations(Exception):
    """The rows of a call name different collations: it must be made row by row."""


def by_collation(body: Callable[..., Column]) -> Callable[..., Column]:
    """The body of a function that takes a collation, for rows that may name different ones."""

    @wraps(body)
    def for_rows(call: CallContext, *columns: Column) -> Column:
        from xstreamcast.model.column import stack

        try:
            return body(call, *columns)
        except SeveralCollations:
            rows = [(_alone(call, i), i) for i in range(call.n)]
            return stack([body(one, *(c.slice(i, i + 1) for c in columns)) for one, i in rows])

    return for_rows


def _alone(call: CallContext, row: int) -> CallContext:
    return replace(call, n=1, focus=None if call.focus is None else call.focus.row(row))
