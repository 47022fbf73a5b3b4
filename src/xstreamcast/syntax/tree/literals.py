"""Literals of XQuery and the bare times of XCQL."""

from __future__ import annotations

from dataclasses import field
from decimal import Decimal
from typing import Literal

from xstreamcast.model.frozen import dataclass
from xstreamcast.syntax.tree.names import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class StringLiteral:
    """The value, references and doubled quotes resolved."""

    value: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IntegerLiteral:
    """`42`."""

    value: int
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DecimalLiteral:
    """`4.2`."""

    value: Decimal
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DoubleLiteral:
    """`4.2e0`; a literal beyond the range of a double is infinite."""

    value: float
    span: Span = field(default=NOWHERE, compare=False, repr=False)


TimeKind = Literal["date", "dateTime", "dayTimeDuration", "yearMonthDuration", "duration"]


@dataclass(frozen=True, slots=True)
class TimeLiteral:
    """A bare `2003-11-01`, `2003-11-01T10:00:00` or `PT1H`; `kind` is its type."""

    kind: TimeKind
    text: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TimeConstant:
    """`now`, `start` (the beginning of time) or `last` (the newest version's number)."""

    word: Literal["now", "start", "last"]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


NumericLiteral = IntegerLiteral | DecimalLiteral | DoubleLiteral
