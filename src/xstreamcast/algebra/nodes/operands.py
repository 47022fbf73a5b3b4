"""Expressions over values: constants, variables, operators, conditionals, types."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from xstreamcast.algebra.nodes.place import NOWHERE
from xstreamcast.errors import Span
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.sequence_type import AtomicItem, AtomicUnion, SequenceType

if TYPE_CHECKING:
    from xstreamcast.algebra.plan import Expression, Tuples

Namespaces: TypeAlias = tuple[tuple[str, str], ...]  # (prefix, address), sorted by prefix
ArithmeticOp = Literal["+", "-", "*", "div", "idiv", "mod"]
CompareOp = Literal["eq", "ne", "lt", "le", "gt", "ge"]
NodeOp = Literal["is", "<<", ">>"]


class Atom(NamedTuple):
    """An atomic value with the tag of its type."""

    tag: int
    value: Any


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable after its scope was resolved: the number is unique in the program."""

    number: int
    name: str

    def __str__(self) -> str:
        return f"${self.name}.{self.number}"


@dataclass(frozen=True, slots=True)
class Const:
    """A sequence of atomic values known now; no atoms is the empty sequence."""

    atoms: tuple[Atom, ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Var:
    """The value of a variable."""

    variable: Variable
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Comma:
    """The parts one after the other."""

    parts: tuple[Expression, ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Range:
    """low to high"""

    low: Expression
    high: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """left op right, on atomised operands of at most one item."""

    op: ArithmeticOp
    left: Expression
    right: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Unary:
    """+operand or -operand"""

    op: Literal["+", "-"]
    operand: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class StringConcat:
    """a || b || …"""

    parts: tuple[Expression, ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class GeneralCompare:
    """= != < <= > >=: true if any pair of items compares so."""

    op: CompareOp
    left: Expression
    right: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ValueCompare:
    """eq ne lt le gt ge: empty if an operand is."""

    op: CompareOp
    left: Expression
    right: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class NodeCompare:
    """is << >>: empty if an operand is."""

    op: NodeOp
    left: Expression
    right: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class And:
    """True if every operand is; the order of evaluation is free."""

    operands: tuple[Expression, ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Or:
    """True if some operand is; the order of evaluation is free."""

    operands: tuple[Expression, ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class If:
    """Each branch is evaluated on its own rows only."""

    test: Expression
    then: Expression
    otherwise: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class SwitchCase:
    """The result of a switch if the value equals that of one of the operands."""

    operands: tuple[Expression, ...]
    result: Expression


@dataclass(frozen=True, slots=True)
class Switch:
    """switch: operands of later cases are evaluated only for rows no earlier case took."""

    operand: Expression
    cases: tuple[SwitchCase, ...]
    default: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class TypeCase:
    """The result of a typeswitch if the value has one of the types."""

    types: tuple[SequenceType, ...]
    result: Expression


@dataclass(frozen=True, slots=True)
class TypeSwitch:
    """typeswitch: `variable` holds the operand in every branch, under whatever names it had."""

    variable: Variable
    operand: Expression
    cases: tuple[TypeCase, ...]
    default: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ErrorTest:
    """A name test on error codes; None matches any."""

    uri: str | None
    local: str | None


@dataclass(frozen=True, slots=True)
class CatchVariables:
    """The variables of the err namespace inside a catch clause."""

    code: Variable
    description: Variable
    value: Variable
    module: Variable
    line_number: Variable
    column_number: Variable
    additional: Variable


@dataclass(frozen=True, slots=True)
class Catch:
    """What to do with an error that one of the tests matches."""

    tests: tuple[ErrorTest, ...]
    variables: CatchVariables
    result: Expression


@dataclass(frozen=True, slots=True)
class Try:
    """try/catch: rows whose body fails take the first catch that matches."""

    body: Expression
    catches: tuple[Catch, ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Quantified:
    """some/every over the tuples: the test's effective boolean value."""

    kind: Literal["some", "every"]
    source: Tuples
    test: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Return:
    """The values of a FLWOR: result for each tuple, in the order of the tuples."""

    source: Tuples
    result: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class InstanceOf:
    """operand instance of type"""

    operand: Expression
    type: SequenceType
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Treat:
    """The operand unchanged if it has the type, else the error `code`.

    XPDY0050 for `treat as`, XPTY0004 for declared types of variables (matched, never converted).
    """

    operand: Expression
    type: SequenceType
    code: str = "XPDY0050"
    role: str = "the operand of treat as"
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Convert:
    """The operand under the function conversion rules; `role` names it in the message XPTY0004."""

    operand: Expression
    type: SequenceType
    role: str
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ListTarget:
    """xs:NMTOKENS, xs:IDREFS, xs:ENTITIES: white-space separated values of the item type."""

    name: str
    tag: int


CastTarget: TypeAlias = AtomicItem | AtomicUnion | ListTarget


@dataclass(frozen=True, slots=True)
class Cast:
    """operand cast as target; `optional` lets an empty operand through.

    `namespaces` are those a string needs to become a QName; empty for other targets.
    """

    operand: Expression
    target: CastTarget
    optional: bool
    namespaces: Namespaces = ()
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Castable:
    """Whether the cast of the same operands would succeed."""

    operand: Expression
    target: CastTarget
    optional: bool
    namespaces: Namespaces = ()
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)
