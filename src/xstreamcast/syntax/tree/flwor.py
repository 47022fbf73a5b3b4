"""FLWOR: one node per clause; `for $a in x, $b in y` → two `For`."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from xstreamcast.model.frozen import dataclass
from xstreamcast.syntax.tree.names import NOWHERE, Name, Span

if TYPE_CHECKING:
    from xstreamcast.syntax.tree import Expr
    from xstreamcast.syntax.tree.types import SequenceType


@dataclass(frozen=True, slots=True)
class For:
    """`for $name as T allowing empty at $position in source`."""

    name: Name
    type: SequenceType | None
    allowing_empty: bool
    position: Name | None
    source: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Let:
    """`let $name as T := value`."""

    name: Name
    type: SequenceType | None
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WindowVariable:
    """A variable of a window boundary; only `forseq` lets it have a type."""

    name: Name
    type: SequenceType | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NewStart:
    """`end when newstart`: a window ends before the item that starts the next one."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WindowStart:
    """`start $current at $position previous $p next $n when test`."""

    current: WindowVariable | None
    position: WindowVariable | None
    previous: WindowVariable | None
    next: WindowVariable | None
    when: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WindowEnd:
    """`only end … when test` (`force end` in `forseq`); `only` drops a window without end."""

    only: bool
    current: WindowVariable | None
    position: WindowVariable | None
    previous: WindowVariable | None
    next: WindowVariable | None
    when: Expr | NewStart
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Window:
    """The W3C window clause (windows ordered by `first` item) or `forseq` (by `last` item).

    kind   tumbling, sliding: both; landmark, general: forseq only
    start  None only for general; end None for general and for a W3C tumbling window without `end`
    """

    kind: Literal["tumbling", "sliding", "landmark", "general"]
    order: Literal["first", "last"]
    name: Name
    type: SequenceType | None
    source: Expr
    start: WindowStart | None
    end: WindowEnd | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Where:
    """`where test`."""

    test: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GroupKey:
    """`$name as T := value collation "uri"`; `value` None groups by the variable as bound."""

    name: Name
    type: SequenceType | None = None
    value: Expr | None = None
    collation: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GroupBy:
    """`group by key, …`."""

    keys: tuple[GroupKey, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OrderKey:
    """`value descending empty least collation "uri"`; `empty` None is the prolog's choice."""

    value: Expr
    descending: bool = False
    empty: Literal["greatest", "least"] | None = None
    collation: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OrderBy:
    """`stable order by key, …`."""

    stable: bool
    keys: tuple[OrderKey, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Count:
    """`count $name`."""

    name: Name
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Clause = For | Let | Window | Where | GroupBy | OrderBy | Count


@dataclass(frozen=True, slots=True)
class Flwor:
    """Clauses in their order, then `return result`."""

    clauses: tuple[Clause, ...]
    result: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)
