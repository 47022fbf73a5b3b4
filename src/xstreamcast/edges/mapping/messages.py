"""Messages on one tape, each with a document node of its own; what is not XML is set aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from xstreamcast.edges.mapping.framing import unframed
from xstreamcast.edges.mapping.separating import separated
from xstreamcast.edges.sources.compressed import MARKS, unpacked
from xstreamcast.errors import Error
from xstreamcast.tape.fragments.document_kernels import in_documents
from xstreamcast.tape.layout import ELEMENT, KIND, Tape
from xstreamcast.tape.reading.read import read

if TYPE_CHECKING:
    from xstreamcast.tape.layout import I64
    from xstreamcast.tape.names import Names


_COMPRESSED: Final = tuple(MARKS)


class Message(NamedTuple):  # a feed may have a hundred thousand in a second
    """The bytes of one XML document, and where they came from: a name, and the first byte there."""

    data: bytes
    place: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """Documents on a tape, and of which message each is."""

    tape: Tape
    documents: I64  # rows
    messages: Sequence[Message]
    offsets: I64 | None = None  # of the messages in their input, where the tape has others


@dataclass(frozen=True, slots=True)
class Unread:
    """A message that is not well-formed."""

    message: Message
    why: Error


def unpacked_messages(given: Sequence[Message]) -> tuple[Sequence[Message], list[Unread]]:
    """(messages, decompressed if they are compressed; those that cannot be)."""
    if not any(one.data.startswith(_COMPRESSED) for one in given):
        return given, []
    readable: list[Message] = []
    broken: list[Unread] = []
    for one in given:
        try:
            readable.append(one._replace(data=unpacked(one.data)))
        except Error as why:
            broken.append(Unread(one, why))
    return readable, broken


def batches(messages: Sequence[Message], names: Names) -> list[Messages | Unread]:
    """The messages that are not blank, in order."""
    return _together([one for one in messages if one.data and not one.data.isspace()], names)


def _together(messages: Sequence[Message], names: Names) -> list[Messages | Unread]:
    """The messages on one tape, where all are well-formed and alike."""
    if not messages:
        return []
    if len(messages) == 1:
        return _alone(messages[0], names)
    data = [one.data for one in messages]
    try:
        tape = read(b"\n".join(data), mode="sequence", names=names)
    except Error:
        return _halved(messages, names)
    ends = np.cumsum(np.fromiter(map(len, data), np.int64, len(data)) + 1)
    batch = by_root(tape, ends, messages)
    return _halved(messages, names) if batch is None else [batch]


def _halved(messages: Sequence[Message], names: Names) -> list[Messages | Unread]:
    """Some message is not what it should be: look at each half."""
    middle = len(messages) // 2
    return _together(messages[:middle], names) + _together(messages[middle:], names)


def _alone(message: Message, names: Names) -> list[Messages | Unread]:
    try:
        tape = read(message.data, mode="sequence", names=names)
    except Error as why:
        parts = unframed(message.data) or separated(message.data)
        if parts is None:
            return [Unread(message, why)]
        return [
            one
            for at, data in parts
            for one in _alone(Message(data, message.place, message.offset + at), names)
        ]
    return [_each_root(tape, message)]


def _each_root(tape: Tape, message: Message) -> Messages:
    """Documents one after another in one message: each is a message."""
    roots = roots_of(tape)
    if len(roots) == 1:
        return Messages(tape, np.zeros(1, np.int64), [message])
    starts = tape.columns.start[roots].tolist()
    ends = [*starts[1:], len(message.data)]
    parts = [
        Message(message.data[a:b], message.place, message.offset + a)
        for a, b in zip(starts, ends, strict=True)
    ]
    return Messages(*in_documents(tape, roots), parts)


def by_root(tape: Tape, ends: I64, messages: Sequence[Message]) -> Messages | None:
    """The batch, if the tape has one root element for each message."""
    roots = roots_of(tape)
    which = np.searchsorted(ends, tape.columns.start[roots], "right")
    if not np.array_equal(which, np.arange(len(messages))):
        return None
    return Messages(*in_documents(tape, roots), messages)


def roots_of(tape: Tape) -> I64:
    """The root elements of documents that follow each other."""
    c = tape.columns
    found: I64 = np.flatnonzero((c.parent == 0) & (c.kind & KIND == ELEMENT))
    return found


def root_name(batch: Messages) -> tuple[str, str]:
    """The name of the first element of a batch, as it is written, and its namespace; "" of none."""
    c = batch.tape.columns
    elements = np.flatnonzero(c.kind & KIND == ELEMENT)
    if not len(elements):
        return "", ""
    prefix, local, uri = batch.tape.names.qname(int(c.name[elements[0]]))
    return f"{prefix}:{local}" if prefix else local, uri


def of_trees(tape: Tape, place: str) -> Messages:
    """Trees that a reader handed out one by one, each a message."""
    c = tape.columns
    roots = np.flatnonzero(c.parent < 0)
    starts = c.start[roots].tolist()
    lengths = c.length[roots].tolist()
    parts = [
        Message(c.heap[a : a + max(n, 0)].tobytes(), place, a)
        for a, n in zip(starts, lengths, strict=True)
    ]
    return Messages(*in_documents(tape, roots), parts)


def is_whole(data: bytes) -> bool:
    """Whether a message has ended: it is a document, or several."""
    try:
        return bool(data.strip()) and bool(len(read(data, mode="sequence")))
    except Error:
        parts = unframed(data)
        return parts is not None and all(is_whole(part) for _, part in parts)
