"""Constructors: all rows of one expression are written onto one tape.

First every enclosed expression is evaluated for all rows, those of nested constructors included;
then the nodes are written row by row, so that a nested element is never made twice.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import error
from xstreamcast.evaluate.constructing.content import (
    ContentWriter,
    joined,
    one_after_the_other,
    prepared,
)
from xstreamcast.evaluate.constructing.node_names import checked_binding, names, prefixes, targets
from xstreamcast.evaluate.constructing.node_writer import NodeWriter
from xstreamcast.evaluate.constructing.slots import END, MANY, Slot, Slots, encoded, written
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.atomic import STRING
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.tape.layout import ATTRIBUTE, ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Bools


_COPY_ALL = p.CopyMode()


def document(plan: p.MakeDocument, frame: Frame) -> Column:
    """document { content }"""
    return _built(frame, made(plan, frame), copy=plan.copy)


def element(plan: p.MakeElement, frame: Frame) -> Column:
    """An element with its content."""
    return _built(frame, made(plan, frame), copy=plan.copy)


def attribute(plan: p.MakeAttribute, frame: Frame) -> Column:
    """An attribute without parent."""
    return _built(frame, made(plan, frame))


def text(plan: p.MakeText, frame: Frame) -> Column:
    """A text node, or nothing for empty content."""
    value = evaluate(plan.content, frame)
    there = value.lengths() > 0
    texts = joined(frame, value)

    def write(writer: NodeWriter, row: int) -> None:
        if there[row]:
            writer.lone_text(texts[row])

    return _built(frame, ContentWriter(write), there)


def comment(plan: p.MakeComment, frame: Frame) -> Column:
    """A comment without parent."""
    return _built(frame, made(plan, frame))


def pi(plan: p.MakePi, frame: Frame) -> Column:
    """A processing instruction without parent."""
    return _built(frame, made(plan, frame))


def namespace(plan: p.MakeNamespace, frame: Frame) -> Column:
    """A namespace node without parent."""
    return _built(frame, made(plan, frame))


def _built(
    frame: Frame, made: ContentWriter, there: Bools | None = None, copy: p.CopyMode = _COPY_ALL
) -> Column:
    """The roots that are made, one in each row (or in the rows `there`)."""
    store = frame.context.store
    if made.slots is not None and frame.n >= MANY:
        return Column(Items.of_nodes(written(store, made.slots, frame.n, copy)))
    writer = NodeWriter(store, copy)
    for row in range(frame.n):
        made.write(writer, row)
    handles = writer.finish()
    items = Items.of_nodes(handles)
    return Column(items) if there is None else Column.from_lengths(items, there.astype(np.int64))


# -- what is written: a function of writer and row -----------------------------------------------


def made(plan: p.Expression, frame: Frame) -> ContentWriter:
    """How a constructor writes its node for a row."""
    match plan:
        case p.MakeElement():
            return _element(plan, frame)
        case p.MakeDocument():
            return _document(plan, frame)
        case p.MakeAttribute():
            return _attribute(plan, frame)
        case p.MakeComment():
            return _comment(plan, frame)
        case p.MakePi():
            return _pi(plan, frame)
        case p.MakeNamespace():
            return _namespace(plan, frame)
        case _:
            raise TypeError(f"{type(plan).__name__} is no constructor")


def _element(plan: p.MakeElement, frame: Frame) -> ContentWriter:
    called = names(plan.name, frame)
    attributes = [_attribute(one, frame) for one in plan.attributes]
    inside = [*attributes, *(_part(part, frame) for part in plan.content)]
    content = one_after_the_other(inside)

    def write(writer: NodeWriter, row: int) -> None:
        writer.start(called[row], plan.namespaces, nested=plan.nested)
        content.write(writer, row)
        writer.end()

    return ContentWriter(write, _element_slots(plan, frame, content))


def _element_slots(plan: p.MakeElement, frame: Frame, content: ContentWriter) -> Slots | None:
    """The events of an element without namespaces."""
    if frame.n < MANY or plan.namespaces or content.slots is None:
        return None
    name = _plain_name(plan.name, frame)
    if name is None:
        return None
    return (Slot(ELEMENT, name), *content.slots, Slot(END))


def _plain_name(name: p.NodeName, frame: Frame) -> int | None:
    """The number of a name that has no namespace and is the same for all rows."""
    if isinstance(name, p.StaticName) and not name.uri:
        return frame.context.store.names.intern("", name.local, "")
    return None


def _document(plan: p.MakeDocument, frame: Frame) -> ContentWriter:
    content = _part(plan.content, frame)

    def write(writer: NodeWriter, row: int) -> None:
        writer.start_document()
        content.write(writer, row)
        writer.end()

    return ContentWriter(write)


_INLINE = (p.MakeElement, p.MakeComment, p.MakePi)


def _part(plan: p.Expression, frame: Frame) -> ContentWriter:
    """One part of some content: a constructor writes its node in place, the rest is copied."""
    if _in_place(plan):
        return made(plan, frame)
    if isinstance(plan, p.MakeAttribute) and _without_namespace(plan):
        return ContentWriter(
            made(plan, frame).write
        )  # no slots: the writer looks at its place and name
    if isinstance(plan, p.Comma) and plan.parts and _apart(plan.parts):
        return one_after_the_other([_part(q, frame) for q in plan.parts])
    return prepared(frame, plan)


def _apart(parts: Sequence[p.Expression]) -> bool:
    """Whether a node is written between any two parts that may be text: no space joins them."""
    own = [_in_place(q) or isinstance(q, p.MakeAttribute) for q in parts]
    return all(a or b for a, b in pairwise(own)) if len(own) > 1 else own[0]


def _without_namespace(plan: p.MakeAttribute) -> bool:
    return isinstance(plan.name, p.StaticName) and not plan.name.uri


def _in_place(plan: p.Expression) -> bool:
    """Whether a node is written in place: it belongs there, or a copy would be equal."""
    return isinstance(plan, _INLINE) and (
        not isinstance(plan, p.MakeElement) or plan.nested or _plain(plan)
    )


def _plain(plan: p.MakeElement) -> bool:
    """Whether no name and no binding of the elements written in place has a namespace."""
    named = (plan.name, *(one.name for one in plan.attributes))
    if plan.namespaces or not all(isinstance(n, p.StaticName) and not n.uri for n in named):
        return False
    return all(_plain(q) for q in plan.content if isinstance(q, p.MakeElement))


def _attribute(plan: p.MakeAttribute, frame: Frame) -> ContentWriter:
    called = names(plan.name, frame, attribute=True)
    values = _texts(plan.parts, frame)

    def write(writer: NodeWriter, row: int) -> None:
        writer.attribute(called[row], values[row])

    number = _plain_name(plan.name, frame) if frame.n >= MANY else None
    return ContentWriter(
        write, None if number is None else (Slot(ATTRIBUTE, number, encoded(values)),)
    )


def _texts(parts: Sequence[p.Expression], frame: Frame) -> list[str]:
    """The strings of all parts end to end, for each row."""
    columns = [_text_of(part, frame) for part in parts]
    if len(columns) == 1:
        return columns[0]
    return ["".join(row) for row in zip(*columns, strict=True)] if columns else [""] * frame.n


def _text_of(part: p.Expression, frame: Frame) -> list[str]:
    match part:
        case p.Const(atoms=(p.Atom(tag, value),)) if tag == STRING:
            return [value] * frame.n
        case _:
            return joined(frame, evaluate(part, frame))


def _comment(plan: p.MakeComment, frame: Frame) -> ContentWriter:
    return _checked_text(plan.content, frame, _comment_text, NodeWriter.comment)


def _checked_text(
    plan: p.Expression,
    frame: Frame,
    check: Callable[[str], str],
    put: Callable[[NodeWriter, str], None],
) -> ContentWriter:
    texts = [check(one) for one in joined(frame, evaluate(plan, frame))]
    return ContentWriter(lambda writer, row: put(writer, texts[row]))


def _comment_text(value: str) -> str:
    if "--" in value or value.endswith("-"):
        raise error("XQDY0072")
    return value


def _pi(plan: p.MakePi, frame: Frame) -> ContentWriter:
    called = targets(plan.target, frame)
    texts = [_pi_text(one) for one in joined(frame, evaluate(plan.content, frame))]
    return ContentWriter(lambda writer, row: writer.pi(called[row], texts[row]))


def _pi_text(value: str) -> str:
    if "?>" in value:
        raise error("XQDY0026")
    return value.lstrip(" \t\r\n")


def _namespace(plan: p.MakeNamespace, frame: Frame) -> ContentWriter:
    called = prefixes(plan.prefix, frame)
    uris = joined(frame, evaluate(plan.content, frame))
    bindings = [checked_binding(*pair) for pair in zip(called, uris, strict=True)]
    return ContentWriter(lambda writer, row: writer.namespace(*bindings[row]))
