"""Expressions that call functions or make them, and the two scripting constructs."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from xstreamcast.algebra.nodes.operands import Namespaces, Variable
from xstreamcast.algebra.nodes.place import NOWHERE
from xstreamcast.errors import Span
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.sequence_type import SequenceType

if TYPE_CHECKING:
    from xstreamcast.algebra.plan import Expression
    from xstreamcast.functions.registry import Function


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a declared or inline function."""

    variable: Variable
    type: SequenceType


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a library function; the evaluator converts the arguments to its declared types.

    `namespaces`: those in scope where enclosing constructors declare some; None: the module's.
    """

    function: Function
    args: tuple[Expression, ...]
    namespaces: Namespaces | None = None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class UserCall:
    """A call of a declared function, by its index; the arguments are converted already."""

    function: int
    args: tuple[Expression, ...]
    name: str
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class DynamicCall:
    """A call of a function item; XPTY0004 if it is not one function of this arity."""

    function: Expression
    args: tuple[Expression, ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Partial:
    """A function item with some arguments fixed; None is a `?`."""

    function: Expression
    args: tuple[Expression | None, ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """name#arity of a library function; one that reads the focus captures it here."""

    function: Function
    arity: int
    namespaces: Namespaces | None = None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class UserRef:
    """name#arity of a declared function, by its index in the program."""

    function: int
    name: str
    arity: int
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Inline:
    """function($p) { body }: captures its free variables; there is no focus inside.

    The body converts its own result; arguments must be converted to the parameters' types.
    """

    parameters: tuple[Parameter, ...]
    result: SequenceType
    body: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class SetVariable:
    """set $v := value; gives nothing, later reads of the variable see the new value."""

    variable: Variable
    value: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Block:
    """{ statement; …; result }: evaluated strictly in order, one row after the other."""

    statements: tuple[Expression, ...]
    result: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)
