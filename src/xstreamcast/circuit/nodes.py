"""The nodes of a circuit: one for each operator, with what it reads, keeps and is keyed by.

Each node is a relation. `columns` are the variables whose values its rows hold; `width` is the
number of parts of its keys. Nodes are compared by identity: two readers of one node share it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.timing import Timing
from xstreamcast.circuit.node_parts import Fold as Fold
from xstreamcast.circuit.node_parts import SortKey as SortKey
from xstreamcast.circuit.unit_folds.fold import Inner
from xstreamcast.circuit.unit_folds.verdict import Verdict
from xstreamcast.circuit.windows.windowed import Windowed
from xstreamcast.model.sequence_type import NodeItem

Columns: TypeAlias = tuple[p.Variable, ...]


@dataclass(frozen=True, slots=True, eq=False)
class One:
    """The relation of one row without columns: what a query is evaluated in."""

    columns: Columns = ()
    width: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """One row without columns while a stream has a root element that passes a test."""

    input: str | None
    test: NodeItem
    columns: Columns = ()
    width: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Spine:
    """A row for each element at a depth of a stream's root fragment, the root's being 1.

    `document` is the element, empty, below the start tags around it; `element` its number.
    """

    input: str | None
    source: int  # the number of the input in node references
    document: p.Variable
    element: p.Variable
    depth: int
    width: int = 1

    @property
    def columns(self) -> Columns:
        """The document, and the number."""
        return (self.document, self.element)


@dataclass(frozen=True, slots=True, eq=False)
class Within:
    """Rows made of units, each paired with the outer rows for the element around the unit.

    `element` is the column of the outer rows with the number of the element at `depth`.
    """

    outer: Node
    units: Node
    element: p.Variable
    depth: int
    input: str | None
    columns: Columns
    width: int


@dataclass(frozen=True, slots=True, eq=False)
class CountAround:
    """How many different nodes units find among themselves and the elements around them.

    `depths` is a column with the depth of each node that a unit found. `below`: what is counted
    is below these nodes; columns hold how much is below them in the unit, and how much is in it.
    """

    source: Node
    input: str | None
    name: str
    depths: p.Variable
    below: tuple[p.Variable, p.Variable] | None
    columns: Columns
    width: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """A row for each unit of an input: `document` is the unit below the start tags around it."""

    input: str | None
    source: int  # the number of the input in node references
    document: p.Variable
    clock: bool = False  # units may change by the clock alone
    timing: Timing | None = None  # when; None: whenever it moves
    inner: tuple[Inner, ...] = ()  # folds that are kept over fragments inside of units
    append: bool = False  # units follow each other, and never change
    pieces: bool = False  # a row is a piece of a document with many units, and never changes
    judged: Verdict | None = None  # how a unit's part in the answer follows from these folds
    width: int = 1

    @property
    def columns(self) -> Columns:
        """The document."""
        return (self.document,)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """let, where and for over each row of a relation, which read nothing but the row.

    `tuples` begins with the row in the place of its one Unit. `nested`: a row may become several,
    and keys have a part more. `scalars` are values that all rows read; `whole` inputs that the
    expressions read whole; `clock`: the expressions read the clock.
    """

    source: Node
    tuples: p.Tuples
    columns: Columns
    width: int
    nested: bool = False
    scalars: tuple[tuple[p.Variable, Node], ...] = ()
    whole: frozenset[str | None] = frozenset()
    clock: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """The pairs of rows that may agree on a key; without a key, all pairs. A condition follows."""

    left: Node
    right: Node
    key: p.JoinKey | None
    columns: Columns
    width: int


@dataclass(frozen=True, slots=True, eq=False)
class IntervalJoin:
    """The pairs of rows whose intervals compare by one of Allen's words.

    `mine` gives the intervals of a left row, `theirs` those of a right one; `left_first`: the word
    is between mine and theirs in this order. The word `touches` is ours: the intervals have an
    instant in common. `renews`: what is made of pairs with an interval that ends now, or later, may
    depend on the clock, so that they are emitted again.
    """

    left: Node
    right: Node
    word: str
    mine: p.Expression
    theirs: p.Expression
    left_first: bool
    columns: Columns
    width: int
    renews: bool = False
    clock: bool = True  # an interval may end now


@dataclass(frozen=True, slots=True, eq=False)
class BandJoin:
    """The pairs of rows where a value of the right one is between two values of the left one.

    `key` and `upper`: left op right, from both sides, with the same right side. Conditions follow.
    """

    left: Node
    right: Node
    key: p.JoinKey
    upper: p.JoinKey
    columns: Columns
    width: int


@dataclass(frozen=True, slots=True, eq=False)
class Nest:
    """Each row of the outer relation with folds over its rows of inner relations."""

    outer: Node
    inner: tuple[tuple[Node, Fold], ...]
    columns: Columns
    width: int


@dataclass(frozen=True, slots=True, eq=False)
class RangeFold:
    """Each row of the outer relation with a fold over the inner rows that compare with it.

    `key`: left op right, an inequality; `upper`: another one, from the other side, with the same
    right side; `equal`: values that must be equal, too. The inner relation does not depend on the
    outer row, but for so many first parts of keys as `within` says: these are equal in rows that
    compare. `cap`: a count that is larger may be given as this number.
    """

    outer: Node
    inner: Node
    key: p.JoinKey
    fold: Fold
    columns: Columns
    width: int
    within: int = 0
    upper: p.JoinKey | None = None
    equal: tuple[p.JoinKey, ...] = ()
    cap: int | None = None

    @property
    def keys(self) -> tuple[p.JoinKey, ...]:
        """All comparisons."""
        return (self.key, *([] if self.upper is None else [self.upper]), *self.equal)


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A row for each combination of keys within an outer row, in the order of first appearance."""

    source: Node
    outer: int  # the parts of a key that name the outer row
    keys: tuple[tuple[p.Variable, p.Variable], ...]  # a column of the source, and the group's
    folds: tuple[Fold, ...]
    carried: Columns  # columns of the outer row
    columns: Columns
    width: int


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The rows of a relation, each nested in the row that a Group by the same keys has for it.

    `ranked`: they are in the order of the groups; else of those within one group alone.
    """

    source: Node
    outer: int
    keys: tuple[tuple[p.Variable, p.Variable], ...]
    columns: Columns
    width: int
    ranked: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """The rows within each outer row, sorted; equal ones keep their order.

    `limit`: rows behind so many others are not needed, and never will be.
    """

    source: Node
    outer: int
    keys: tuple[SortKey, ...]
    columns: Columns
    width: int
    limit: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """The rows at positions first to last within each outer row; negative ones count from the end.

    last None: to the end.
    """

    source: Node
    outer: int
    first: int
    last: int | None
    columns: Columns
    width: int


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """The rows at some positions within each outer row.

    `place` has a row with the positions for each outer row, or one row for all of them.
    """

    source: Node
    place: Node
    position: p.Variable  # the column of `place` that holds them
    outer: int
    columns: Columns
    width: int


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """Each row with its position within its outer row; `size`: with the number of rows."""

    source: Node
    outer: int
    variable: p.Variable
    size: p.Variable | None
    columns: Columns
    width: int


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """The rows of several relations within an outer row, one relation after the other."""

    parts: tuple[Node, ...]
    outer: int
    columns: Columns
    width: int


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """A row for each window over the items that a column holds within each outer row.

    `folds` are over what another column holds at the items of a window.
    """

    source: Node
    outer: int
    item: p.Variable
    window: p.ForWindow  # over Var(item)
    carried: Columns
    columns: Columns
    width: int
    folds: tuple[Fold, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class GrowingWindow:
    """A row for each window over the items of a document: items only follow each other.

    The one column is what a window gives; `holds_nodes`: nodes of the input may be among it;
    `answer`: it is the answer, and is written where it is evaluated.
    """

    source: Units
    shape: Windowed
    columns: Columns
    holds_nodes: bool = False
    answer: bool = False
    width: int = 1


Node: TypeAlias = (
    One
    | Root
    | Spine
    | Within
    | CountAround
    | Units
    | Rows
    | Join
    | IntervalJoin
    | BandJoin
    | Nest
    | RangeFold
    | Group
    | Members
    | Order
    | Slice
    | Pick
    | Number
    | Union
    | Window
    | GrowingWindow
)


@dataclass(frozen=True, slots=True, eq=False)
class Circuit:
    """The answer is `result` for each row of `root`, in rank order; `sources` are its inputs."""

    root: Node
    result: p.Expression
    sources: tuple[str | None, ...]
    whole: frozenset[str | None] = frozenset()
    guards: frozenset[tuple[str | None, tuple[str | None, str]]] = frozenset()
    held: frozenset[tuple[str | None, tuple[str | None, str]]] = frozenset()
    reasons: tuple[tuple[str, tuple[int, int]], ...] = ()  # why something is recomputed
    hasty: bool = False  # folds are kept that may fail where no branch or condition reads them
