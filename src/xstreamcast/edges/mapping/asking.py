"""XPath of a mapping, evaluated for all messages or all units of a batch at once."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from xstreamcast.algebra.lowering import lower
from xstreamcast.edges.mapping.form import Mapping, refused
from xstreamcast.errors import Error
from xstreamcast.evaluate.context import Context, Inputs
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.walk import evaluate, truth
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.cast import cast
from xstreamcast.model.atomic import NODE, STRING, UNTYPED
from xstreamcast.model.column import Column, offsets_of
from xstreamcast.model.items import Items
from xstreamcast.rewrite.optimise import optimise
from xstreamcast.syntax import parse
from xstreamcast.tape.layout import ELEMENT
from xstreamcast.tape.reading.read import read

Result = TypeVar("Result")
Whys = dict[int, tuple[str, str]]  # row → code, reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from xstreamcast.algebra.program import Program
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.tape.layout import I64, U8, Bools
    from xstreamcast.tape.store import Store


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """A text for each row: bytes end to end, their offsets, and how many items each row had."""

    heap: U8
    offsets: I64
    counts: I64

    @property
    def lengths(self) -> I64:
        """Bytes of each."""
        return np.diff(self.offsets)

    def text(self, row: int) -> str:
        """One of them."""
        return self.heap[self.offsets[row] : self.offsets[row + 1]].tobytes().decode()


class XPath:
    """One expression of a mapping, compiled."""

    def __init__(self, mapping: Mapping, entry: str, text: str) -> None:
        self.entry, self.text, self.mapping = entry, text, mapping.name
        declared = "".join(_declared(*one) for one in mapping.namespaces.items())
        try:
            self._program: Program = deep(
                lambda: optimise(lower(parse(f"{declared}{text}", entry)))
            )
        except Error as why:
            undeclared = why.code == "XPST0081"
            hint = '[namespaces] declares prefixes: s = "http://…"' if undeclared else why.hint
            raise refused(mapping.name, f"{entry} = {text!r}: {why.message}", hint) from None

    def safely(
        self, ask: Callable[[Store, I64], Result], store: Store, nodes: I64, why: Whys
    ) -> Result:
        """What `ask` gives for all nodes; a node for which it fails is left out, with the reason.

        Its place is taken by an empty document, where every path leads to nothing.
        """
        try:
            return ask(store, nodes)
        except Error as failed:
            if failed.code.startswith("XSCU"):
                raise
        good = nodes.copy()
        nothing = store.add(read(b"<nothing/>", names=store.names)) << 32
        for row in range(len(nodes)):
            try:
                ask(store, nodes[row : row + 1])
            except Error as failed:
                why.setdefault(row, ("XSCM0006", f"{self.entry} fails: {failed.message}"))
                good[row] = nothing
        return ask(store, good)

    def _frame(self, store: Store, nodes: I64) -> Frame:
        context = Context(self._program, Inputs(store))
        offsets = np.array([0, len(nodes)], np.int64)
        return context.root.focused(Column(Items.of_nodes(nodes), offsets))

    def nodes(self, store: Store, nodes: I64) -> tuple[I64, I64]:
        """(for each node found the row it was found from, the node)."""
        column = deep(lambda: evaluate(self._program.body, self._frame(store, nodes)))
        if not len(column.items):
            return column.rows(), np.zeros(0, np.int64)
        if column.items.tag != NODE or (store.kinds(column.items.values) != ELEMENT).any():
            raise refused(self.mapping, f"{self.entry} = {self.text!r} must lead to elements")
        return column.rows(), column.items.values

    def holds(self, store: Store, nodes: I64) -> Bools:
        """Whether it is true of each node."""
        return deep(lambda: truth(self._program.body, self._frame(store, nodes)))

    def texts(self, store: Store, nodes: I64) -> TextColumn:
        """The first item of each row as text, without white space around it."""
        rows, items = self.items(store, nodes)
        counts = np.bincount(rows, minlength=len(nodes))
        first = np.flatnonzero(np.diff(rows, prepend=-1))
        heap, offsets = _bytes(store, items.take(first) if len(first) < len(items) else items)
        lengths = np.zeros(len(nodes), np.int64)
        lengths[counts > 0] = np.diff(offsets)
        return _stripped(TextColumn(heap, offsets_of(lengths), counts))

    def items(self, store: Store, nodes: I64) -> tuple[I64, Items]:
        """(for each item the row it is of, the item as a text)."""

        def ask() -> tuple[I64, Items]:
            column = evaluate(self._program.body, self._frame(store, nodes))
            if column.items.tag != NODE:
                column = atomize(store, column)
                if column.items.tag not in (STRING, UNTYPED):
                    column = column.with_items(cast(column.items, STRING))
            return column.rows(), column.items

        return deep(ask)


def _declared(prefix: str, uri: str) -> str:
    """The declaration of a prefix, or of the default for elements."""
    literal = uri.replace("&", "&amp;").replace('"', '""')
    name = f"namespace {prefix} =" if prefix else "default element namespace"
    return f'declare {name} "{literal}";\n'


def _bytes(store: Store, items: Items) -> tuple[U8, I64]:
    """The texts of items end to end."""
    if items.tag == NODE:
        return store.string_bytes(items.values)
    if items.nodes is not None:
        return store.string_bytes(items.nodes)
    texts = [str(value).encode() for value in items.values]
    lengths = np.array([len(one) for one in texts], np.int64)
    return np.frombuffer(b"".join(texts), np.uint8), offsets_of(lengths)


def _stripped(texts: TextColumn) -> TextColumn:
    """The texts without white space around them."""
    some = texts.lengths > 0
    first = texts.heap[texts.offsets[:-1][some]]
    last = texts.heap[texts.offsets[1:][some] - 1]
    if not ((first <= 32) | (last <= 32)).any():
        return texts
    raw, ends = texts.heap.tobytes(), texts.offsets.tolist()
    parts = [raw[a:b].strip() for a, b in itertools.pairwise(ends)]
    lengths = np.array([len(one) for one in parts], np.int64)
    return TextColumn(np.frombuffer(b"".join(parts), np.uint8), offsets_of(lengths), texts.counts)


def joined_texts(parts: list[TextColumn | bytes]) -> TextColumn:
    """Texts of several columns, and bytes between them, put together row by row."""
    columns = [one for one in parts if isinstance(one, TextColumn)]
    n = len(columns[0].counts)
    widths = [np.full(n, len(p)) if isinstance(p, bytes) else p.lengths for p in parts]
    total = np.sum(widths, axis=0)
    offsets = offsets_of(total)
    heap, at = np.empty(int(offsets[-1]), np.uint8), offsets[:-1].copy()
    for part, width in zip(parts, widths, strict=True):
        if isinstance(part, bytes):
            for k, byte in enumerate(part):
                heap[at + k] = byte
        else:
            shift = np.repeat(at - part.offsets[:-1], width)
            source = np.arange(int(part.offsets[0]), int(part.offsets[-1]))
            heap[source + shift] = part.heap[source]
        at += width
    return TextColumn(heap, offsets, np.ones(n, np.int64))
