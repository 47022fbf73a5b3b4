"""The columns of a tape: one row per node, in document order.

    kind   uint8   low 3 bits: the kind; the rest: flags (NEEDS_DECODE)
    level  uint16  0 for a root
    name   int32   id in `names`; -1 where nameless (document, text, comment)
    parent int32   row of the parent; -1 for a root
    size   int32   rows below, attributes and namespaces included → next sibling = row + size + 1
    start  int64   with `length` int32: a span of bytes in `heap`; 27 bytes of columns per node

Below an element are first its NAMESPACE rows, then its ATTRIBUTE rows, then its children.

What a span covers:
- TEXT: the raw bytes of one maximal run of character data, references and CDATA sections, markup
  `<![CDATA[` and `]]>` included (a comment or PI ends the run). A run whose value is empty
  (`<![CDATA[]]>` alone) has no row.
- ATTRIBUTE, NAMESPACE: the value between the quotes. COMMENT: between `<!--` and `-->`.
- PI: the data after the target and its white space, up to `?>`; the name is the target.
- ELEMENT: from `<` of the start tag to `>` of the end tag; length -1 if there is no such span
  (constructed, decoded from another form, or longer than 2 GiB). DOCUMENT: length -1 or the whole.

NEEDS_DECODE says that the value is not the bytes of the span: TEXT with `&`, CDATA markup or CR;
ATTRIBUTE and NAMESPACE with `&`, tab, LF or CR (each becomes a space, CR LF one); COMMENT and PI
with CR.
References in a span are character references and the five predefined entities; any other, where a
DTD outside the document may declare it, represents nothing (no element of such a document has a
span to copy). A document that declares entities is expanded before it reaches a tape. Spans are
valid UTF-8.

A NAMESPACE row is named by the binding itself: local part = prefix ("" for the default namespace),
uri = what it is bound to ("" for an undeclaration). `xmlns:xml` makes no row.
White space and comments outside the root element: comments and PIs are children of the document
node, white space has no row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.tape.names import Names
    from xstreamcast.tape.node import Node

U8: TypeAlias = npt.NDArray[np.uint8]
U16: TypeAlias = npt.NDArray[np.uint16]
I32: TypeAlias = npt.NDArray[np.int32]
I64: TypeAlias = npt.NDArray[np.int64]
U64: TypeAlias = npt.NDArray[np.uint64]
F64: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Objects: TypeAlias = npt.NDArray[Any]

DOCUMENT, ELEMENT, ATTRIBUTE, TEXT, COMMENT, PI, NAMESPACE = range(7)
KIND = 0x07
NEEDS_DECODE = 0x08
WIDTH = 32  # bytes that a kernel looks at in one step: one bit of a mask each

KIND_NAMES = ("document", "element", "attribute", "text", "comment", "pi", "namespace")


class Columns(NamedTuple):
    """What a compiled kernel sees of a tape."""

    kind: U8
    level: U16
    name: I32
    parent: I32
    size: I32
    start: I64
    length: I32
    heap: U8


def empty_columns(rows: int, heap: U8) -> Columns:
    """Room for `rows` nodes over `heap`, not yet filled."""
    return Columns(
        np.empty(rows, np.uint8),
        np.empty(rows, np.uint16),
        np.empty(rows, np.int32),
        np.empty(rows, np.int32),
        np.empty(rows, np.int32),
        np.empty(rows, np.int64),
        np.empty(rows, np.int32),
        heap,
    )


def frozen_bytes(data: bytes | bytearray | memoryview | U8) -> U8:
    """`data` as a read-only uint8 array, without a copy; one array type for all kernels."""
    view = np.frombuffer(data, np.uint8).view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tape:
    """XML as columns; a node is a row. Row 0 is the document node of a document."""

    columns: Columns
    names: Names
    source: str | None = None  # what an error message calls the input
    # Attributes that a DTD declares: (element, attribute) → ID, IDREF or IDREFS, names as written.
    declared: Mapping[tuple[str, str], str] | None = None

    def __post_init__(self) -> None:
        heap = self.columns.heap
        if heap.flags.writeable:
            object.__setattr__(self, "columns", self.columns._replace(heap=frozen_bytes(heap)))

    def __len__(self) -> int:
        return len(self.columns.kind)

    def __getitem__(self, row: int) -> Node:
        """The node at `row`, to look at: `tape[0]`."""
        from xstreamcast.tape.node import Node

        return Node(self, self._row(row))

    def __repr__(self) -> str:
        where = f" of {self.source}" if self.source else ""
        held = f"{len(self)} nodes{where}, {len(self.columns.heap)} bytes"
        roots = len(self.roots())
        return f"<Tape: {held}, {roots} root{'s' if roots != 1 else ''}>"

    def roots(self) -> I64:
        """The rows without a parent, in order."""
        return np.flatnonzero(self.columns.parent < 0)

    def serialize(self, node: int = 0) -> bytes:
        """The XML of the node at row `node`, without an XML declaration."""
        from xstreamcast.tape.writing.serialize import serialize_rows

        return serialize_rows(self, np.array([self._row(node)], np.int64))[0]

    def _row(self, row: int) -> int:
        """A row from 0 on; from the end if negative. Kernels look without checking."""
        if not len(self):
            raise IndexError("the tape is empty")
        if not -len(self) <= row < len(self):
            raise IndexError(f"row must be below {len(self)}; got {row}")
        return row % len(self)
