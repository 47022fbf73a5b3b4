"""A node to look at: for the REPL, error messages and tests, never for evaluation."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from xstreamcast.model.frozen import dataclass
from xstreamcast.tape.layout import ELEMENT, I64, KIND, KIND_NAMES, Tape

_SHOWN = 60  # characters of XML in a repr
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)", re.ASCII)
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][+-]?[0-9]+)?", re.ASCII)


@dataclass(frozen=True, slots=True, repr=False)
class Node:
    """A node: a row of a tape. `item["road"]` is the value of its child of that name."""

    tape: Tape
    row: int

    @property
    def kind(self) -> str:
        """document, element, attribute, text, comment, pi or namespace."""
        return KIND_NAMES[int(self.tape.columns.kind[self.row]) & KIND]

    @property
    def name(self) -> str:
        """`prefix:local`, or "" for a node without a name."""
        name = int(self.tape.columns.name[self.row])
        return self.tape.names.lexical(name) if name >= 0 else ""

    @property
    def uri(self) -> str:
        """The namespace of the name."""
        name = int(self.tape.columns.name[self.row])
        return self.tape.names.qname(name)[2] if name >= 0 else ""

    @property
    def string(self) -> str:
        """The string value."""
        from xstreamcast.tape.values.strings import gathered

        return gathered(self.tape, self._rows())[0].tobytes().decode()

    @property
    def parent(self) -> Node | None:
        """The node above it, if there is one."""
        row = int(self.tape.columns.parent[self.row])
        return None if row < 0 else Node(self.tape, row)

    @property
    def children(self) -> list[Node]:
        """The nodes directly below it, text included."""
        return self.step("child")

    @property
    def attributes(self) -> list[Node]:
        """Its attributes."""
        return self.step("attribute")

    def step(self, axis: str) -> list[Node]:
        """The nodes on an axis, in document order."""
        from xstreamcast.tape.steps.axes import NodeTest, step

        _, rows = step(self.tape, self._rows(), axis, NodeTest.node())
        return [Node(self.tape, int(row)) for row in rows]

    def serialize(self) -> bytes:
        """Its XML, as bytes."""
        return self.tape.serialize(self.row)

    @property
    def xml(self) -> str:
        """Its XML."""
        return str(self)

    @property
    def value(self) -> int | float | str:
        """Its string value; a number where that is the usual form of one."""
        text = self.string
        return (int if _INTEGER.fullmatch(text) else float)(text) if _is_number(text) else text

    def __getitem__(self, name: str) -> int | float | str | Node | list[Any]:
        """The child of a name or, if there is none, the attribute; `@name` is the attribute.

        item["road"]  →  "A8"; with parts of its own: a Node; several of them: a list
        """
        found = [child for child in self.children if child._is_named(name)]
        found = found or [one for one in self.attributes if one._is_named(name.removeprefix("@"))]
        if not found:
            raise KeyError(name)
        made = [one._part() for one in found]
        return made[0] if len(made) == 1 else made

    def get(self, name: str, default: Any = None) -> Any:
        """What [name] gives, or the default."""
        try:
            return self[name]
        except KeyError:
            return default

    def _is_named(self, name: str) -> bool:
        return self.name != "" and name in (self.name, self.name.rpartition(":")[2])

    def _part(self) -> int | float | str | Node:
        """A leaf as its value, anything else as a node."""
        leaf = self.kind == "attribute" or all(one.kind == "text" for one in self.children)
        return self.value if leaf and not self.attributes else self

    def __str__(self) -> str:
        return self.serialize().decode()

    def __repr__(self) -> str:
        what = f"{self.kind} {self.name}" if self.name else self.kind
        if self.tape.columns.kind[self.row] & KIND <= ELEMENT:
            count = len(self.children)
            what += f", {count} child" if count == 1 else f", {count} children"
        return f"<Node {self.row} {what}: {_shortened(self._start())}>"

    def _start(self) -> str:
        """The beginning of its XML; a large tree is not written out only to be cut."""
        if self.tape.columns.size[self.row] < 1000:
            return str(self)
        first = next((child for child in self.children if child.kind == "element"), None)
        name = self.name or (first.name if first else "")
        attributes = "".join(f" {a}" for a in (self if self.name else first or self).attributes)
        return f"<{name}{attributes}>…"

    def _rows(self) -> I64:
        return np.array([self.row], np.int64)


def _shortened(xml: str) -> str:
    one_line = " ".join(xml.split())
    return one_line if len(one_line) <= _SHOWN else one_line[:_SHOWN] + "…"


def _is_number(text: str) -> bool:
    return bool(_INTEGER.fullmatch(text) or _DECIMAL.fullmatch(text))
