"""A whole query after lowering: the prolog's part of it and the body."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

from xstreamcast.algebra.nodes.operands import Variable
from xstreamcast.algebra.nodes.place import NOWHERE
from xstreamcast.algebra.plan import Expression, Parameter
from xstreamcast.errors import Source, Span
from xstreamcast.functions.call import StaticContext
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.sequence_type import SequenceType


@dataclass(frozen=True, slots=True)
class GlobalVariable:
    """A variable of the prolog; `value` (checked against the type) is the default if external.

    What the caller gives for an external variable must match `type`.
    """

    variable: Variable
    uri: str
    local: str
    type: SequenceType
    value: Expression | None
    external: bool
    infinite: bool
    module: int = 0  # 0: the main module; n: the n-th library
    private: bool = False
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ContextItem:
    """declare context item; `value` (already checked) is the default if external.

    `after`: how many of the program's variables are computed before it; the others may read it.
    """

    type: SequenceType
    value: Expression | None
    external: bool
    after: int = 0
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A declared function; the body converts its own result, callers convert arguments."""

    uri: str
    local: str
    name: str
    parameters: tuple[Parameter, ...]
    result: SequenceType
    body: Expression
    module: int = 0  # 0: the main module; n: the n-th library
    private: bool = False
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)

    @property
    def arity(self) -> int:
        """The number of parameters."""
        return len(self.parameters)


@dataclass(frozen=True, slots=True)
class Settings:
    """Choices of the prolog that are no part of what functions see."""

    ordered: bool = True
    construction_preserve: bool = False
    sequential: bool = False
    options: tuple[tuple[str, str, str], ...] = ()  # (namespace, local, value)


@dataclass(frozen=True, slots=True)
class Library:
    """What a module fixes for its own code: its text, its names, the functions that it sees."""

    uri: str
    source: Source
    static: StaticContext
    visible: Mapping[tuple[str, str, int], int]  # functions by name and arity
    context: SequenceType | None = None  # what the context item must be


@dataclass(frozen=True, slots=True)
class Program:
    """What is evaluated: the variables in order (each needs only earlier ones), then the body."""

    source: Source
    static: StaticContext
    settings: Settings
    context: ContextItem | None
    variables: tuple[GlobalVariable, ...]
    functions: tuple[UserFunction, ...]
    body: Expression
    libraries: tuple[Library, ...] = ()
    visible: Mapping[tuple[str, str, int], int] = field(default_factory=dict)
    name: str = ""  # of the stream that the query declares by it
    careful: bool = False  # nothing is evaluated that no branch or condition comes to


def with_bodies(program: Program, put: Callable[[Any], Any]) -> Program:
    """The program with others in the place of its body, its variables' values and its functions."""
    return replace(
        program,
        body=put(program.body),
        variables=tuple(
            one if one.value is None else replace(one, value=put(one.value))
            for one in program.variables
        ),
        functions=tuple(replace(one, body=put(one.body)) for one in program.functions),
    )


def modules_of(program: Program) -> Callable[[str, tuple[str, ...]], list[tuple[str, str]]]:
    """The libraries that a program was made of, found again by their namespace."""

    def found(uri: str, places: tuple[str, ...]) -> list[tuple[str, str]]:
        return [(one.source.name, one.source.text) for one in program.libraries if one.uri == uri]

    return found
