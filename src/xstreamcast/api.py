"""The library's door: a query, and what one does with it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from xstreamcast.errors import error

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.evaluate.context import Inputs
    from xstreamcast.model.items import Items
    from xstreamcast.tape.store import Store

Source: TypeAlias = "str | os.PathLike[str] | bytes"


def query(text: str, *, name: str = "query") -> Query:
    """A query, compiled now: a mistake in the text is an error here, not when it runs."""
    return Query(text, name)


@lru_cache(maxsize=1024)
def compiled(text: str, name: str = "query", base_uri: str | None = None) -> Program:
    """The program of a query text."""
    from xstreamcast.algebra.lowering import lower
    from xstreamcast.evaluate.deep import deep
    from xstreamcast.rewrite.optimise import optimise
    from xstreamcast.syntax import parse

    return deep(lambda: optimise(lower(parse(text, name), base_uri=base_uri)))


class Query:
    """A compiled query; may be run any number of times."""

    def __init__(self, text: str, name: str = "query") -> None:
        self.text = text
        self.program = compiled(text, name)

    def run(self, document: Source | None = None, /, **inputs: Any) -> Answer:
        """The answer over what is there.

        `document` becomes the context item. A named input is a document (path, bytes) where the
        query says stream("name") or doc("name"), and else the value of the external variable.
        """
        from xstreamcast.evaluate.context import Inputs
        from xstreamcast.evaluate.run import run
        from xstreamcast.tape.store import Store

        store = Store()
        given = Inputs(store)
        if document is not None:
            given.item = _document(store, document)
        _bind(given, self.program, inputs)
        return Answer(store, run(self.program, given))


class Answer:
    """The items of an answer: Python values, and nodes to look at."""

    def __init__(self, store: Store, items: Items) -> None:
        self.store = store
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        from xstreamcast.model.atomic import NODE

        for tag, value in self.items.pairs():
            yield self.store.node(value) if tag == NODE else value

    def lines(self) -> Iterator[str]:
        """One line an item: nodes as XML, atomic values as strings."""
        from xstreamcast.evaluate.results import lines

        return lines(self.store, self.items)

    def __repr__(self) -> str:
        return f"<Answer: {len(self)} items>"


def _document(store: Store, source: Source) -> Items:
    import numpy as np

    from xstreamcast.model.items import Items

    return Items.of_nodes(np.array([store.read(source)], np.int64))


def _bind(given: Inputs, program: Program, inputs: Mapping[str, Any]) -> None:
    """Named inputs as external variables, streams and documents."""
    declared = {(v.uri, v.local): v for v in program.variables if v.external}
    values: dict[tuple[str, str], Items] = {}
    documents: dict[str, Items] = {}

    def named(name: str) -> Items:
        if name not in inputs:
            raise error("FODC0002", f"there is no input named {name}")
        if name not in documents:
            documents[name] = _document(given.store, inputs[name])
        return documents[name]

    for uri, local in declared:
        if local in inputs:
            values[uri, local] = _value(inputs[local], partial(named, local))
    given.variables = values
    given.streams = named
    given.documents = lambda uri: int(named(uri).values[0])


def _value(value: Any, document: Any) -> Items:
    """A Python value as items; paths and bytes are documents, strings are untyped text."""
    from xstreamcast.model import atomic as a
    from xstreamcast.model.items import Items

    match value:
        case Items():
            return value
        case list() | tuple():
            return Items.concat([_value(one, document) for one in value])
        case bool():
            return Items.of(a.BOOLEAN, [value])
        case int():
            return Items.of(a.INTEGER, [value])
        case float():
            return Items.of(a.DOUBLE, [value])
        case Decimal():
            return Items.of(a.DECIMAL, [value])
        case str():
            return Items.of(a.UNTYPED, [value])
        case bytes() | os.PathLike():
            found: Items = document()
            return found
        case _:
            raise error(
                "XSCU0005", f"an input must be a path, XML or a value; got {type(value).__name__}"
            )
