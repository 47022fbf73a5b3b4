"""What declarations and inline functions share: annotations and parameters."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from xstreamcast.model.frozen import dataclass
from xstreamcast.syntax.tree.names import NOWHERE, Name, Span

if TYPE_CHECKING:
    from xstreamcast.syntax.tree.literals import NumericLiteral, StringLiteral
    from xstreamcast.syntax.tree.types import TypeExpr


@dataclass(frozen=True, slots=True)
class Annotation:
    """`%name` or `%name(literal, …)`."""

    name: Name
    values: tuple[StringLiteral | NumericLiteral, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Param:
    """`$name as type` of a function."""

    name: Name
    type: TypeExpr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)
