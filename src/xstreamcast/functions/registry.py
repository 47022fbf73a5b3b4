"""The table of functions: one row for each name and number of arguments."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from threading import RLock
from typing import TYPE_CHECKING, Final, TypeVar

import xstreamcast.functions as room
from xstreamcast.functions.call import by_collation
from xstreamcast.functions.signature import PREFIXES, parse_signature
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.model.column import Column
    from xstreamcast.model.sequence_type import SequenceType

Body = TypeVar("Body", bound="Callable[..., Column]")


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """One row. body(call, *columns) → column; the caller converts arguments to `parameters` first.

    `blocking` names the parameters (from 0) whose sequence must have ended; `focus` says that the
    body reads the context item; a function that is not `deterministic` is never folded or shared.
    """

    uri: str
    local: str
    parameters: tuple[SequenceType, ...]
    variadic: bool
    result: SequenceType
    body: Callable[..., Column]
    doc: str
    blocking: tuple[int, ...]
    focus: bool
    deterministic: bool
    signature: str

    @property
    def arity(self) -> int:
        """How many parameters it declares; a variadic one takes that many or more."""
        return len(self.parameters)

    @property
    def name(self) -> str:
        """The name as a query would usually write it."""
        prefix = next((p for p, uri in PREFIXES.items() if uri == self.uri), None)
        return f"{prefix}:{self.local}" if prefix else f"Q{{{self.uri}}}{self.local}"


_ROWS: Final[dict[tuple[str, str, int], Function]] = {}
_VARIADIC: Final[dict[tuple[str, str], Function]] = {}
_LOADED: Final[set[str]] = set()
_LOADING: Final = RLock()
_LOADING_NOW: Final[list[str]] = []
_edition = 0


def function(
    signature: str,
    *,
    doc: str | None = None,
    blocking: tuple[int, ...] = (),
    focus: bool = False,
    deterministic: bool = True,
) -> Callable[[Body], Body]:
    """Adds a row with the decorated function as body, and its docstring as default `doc`."""
    head = parse_signature(signature)
    collates = "$collation" in signature

    def add(body: Body) -> Body:
        text = doc or (body.__doc__ or "").strip().split("\n")[0]
        register(
            Function(
                head.uri,
                head.local,
                head.parameters,
                head.variadic,
                head.result,
                by_collation(body) if collates else body,
                text,
                blocking,
                focus,
                deterministic,
                signature,
            )
        )
        return body

    return add


def register(row: Function, *, also: str | None = None) -> None:
    """Puts a row in the table, in the place of one with the same name and arity.

    `also` is a second namespace in which it is found: how a function is called without prefix.
    """
    global _edition
    _edition += 1
    _ROWS[row.uri, row.local, row.arity] = row
    if also is not None:
        _ROWS[also, row.local, row.arity] = row
    if row.variadic:
        _VARIADIC[row.uri, row.local] = row


def edition() -> int:
    """Another number each time the table has changed: what was compiled against an old one ages."""
    _load()
    return _edition


def lookup(uri: str, local: str, arity: int) -> Function | None:
    """The row that a call with this name and number of arguments means."""
    _load()
    row = _ROWS.get((uri, local, arity))
    if row is None:
        row = _VARIADIC.get((uri, local))
        row = row if row is not None and arity >= row.arity else None
    return row


def rows() -> Iterator[Function]:
    """All rows, by name and arity."""
    _load()
    yield from sorted(set(_ROWS.values()), key=lambda row: (row.name, row.arity))


def arities(uri: str, local: str) -> list[int]:
    """The numbers of arguments under which a name is known."""
    _load()
    return sorted(arity for u, name, arity in _ROWS if (u, name) == (uri, local))


def near(uri: str, local: str) -> list[str]:
    """Names like this one, best first: same namespace before others."""
    _load()
    here = get_close_matches(local, sorted({n for u, n, _ in _ROWS if u == uri}), 3, 0.7)
    known = {row.local: row.name for row in _ROWS.values()}
    there = get_close_matches(local, sorted(known), 3, 0.85)
    prefix = next((p for p, u in PREFIXES.items() if u == uri), "")
    found = [f"{prefix}:{name}" if prefix else name for name in here]
    return found + [known[name] for name in there if known[name] not in found]


def _load() -> None:
    """Imports every module of the room once: importing one is what adds its rows."""
    if room.__name__ in _LOADED:
        return
    with _LOADING:  # other threads wait until the table is whole; this one may look meanwhile
        if _LOADING_NOW or room.__name__ in _LOADED:
            return
        _LOADING_NOW.append(room.__name__)
        try:
            for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
                importlib.import_module(module.name)
            _LOADED.add(room.__name__)
        finally:
            _LOADING_NOW.clear()
