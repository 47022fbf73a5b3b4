"""FLWOR: one node per clause; `for $a in x, $b in y` → two `For`."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from xstreamcast.model.frozen import dataclass
from xstreamcast.syntax.tree.names import NOWHERE, Name, Span

if TYPE_CHECKING:
    from xstreamcast.syntax.tree import Expr
    from xstreamcast.syntax.tree.types import TypeExpr


@dataclass(frozen=True, slots=True)
class ForClause:
    """`for $name as T allowing empty at $position in source`."""

    name: Name
    type: TypeExpr | None
    allowing_empty: bool
    position: Name | None
    source: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LetClause:
    """`let $name as T := value`."""

    name: Name
    type: TypeExpr | None
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WindowVariable:
    """A variable of a window boundary; only `forseq` lets it have a type."""

    name: Name
    type: TypeExpr | None = None
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
class WindowClause:
    """The W3C window clause (windows ordered by `first` item) or `forseq` (by `last` item).

    kind   tumbling, sliding: both; landmark, general: forseq only
    start  None only for general; end None for general and for a W3C tumbling window without `end`
    """

    kind: Literal["tumbling", "sliding", "landmark", "general"]
    order: Literal["first", "last"]
    name: Name
    type: TypeExpr | None
    source: Expr
    start: WindowStart | None
    end: WindowEnd | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WhereClause:
    """`where test`."""

    test: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GroupingSpec:
    """`$name as T := value collation "uri"`; `value` None groups by the variable as bound."""

    name: Name
    type: TypeExpr | None = None
    value: Expr | None = None
    collation: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GroupByClause:
    """`group by key, …`."""

    keys: tuple[GroupingSpec, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OrderSpec:
    """`value descending empty least collation "uri"`; `empty` None is the prolog's choice."""

    value: Expr
    descending: bool = False
    empty: Literal["greatest", "least"] | None = None
    collation: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OrderByClause:
    """`stable order by key, …`."""

    stable: bool
    keys: tuple[OrderSpec, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CountClause:
    """`count $name`."""

    name: Name
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Clause = (
    ForClause | LetClause | WindowClause | WhereClause | GroupByClause | OrderByClause | CountClause
)


@dataclass(frozen=True, slots=True)
class Flwor:
    """Clauses in their order, then `return result`."""

    clauses: tuple[Clause, ...]
    result: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)
