"""Inputs bound to the names a query has for them: streams, documents, external variables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.algebra.analysis.documents import with_streams
from xstreamcast.algebra.analysis.infinite import refuse_blocked
from xstreamcast.algebra.analysis.strategies import STRATEGIES
from xstreamcast.algebra.lowering import Modules, lower
from xstreamcast.algebra.lowering.literals import with_seconds
from xstreamcast.algebra.plan import (
    Call,
    Const,
    FunctionRef,
    IntervalProjection,
    Plan,
    StreamInput,
)
from xstreamcast.algebra.program import modules_of
from xstreamcast.algebra.queries import modules
from xstreamcast.algebra.walk import descendants
from xstreamcast.edges.given_names import names_of_inputs
from xstreamcast.edges.immutable import paths_of
from xstreamcast.edges.inputs import chunks, opened, paths
from xstreamcast.edges.line_documents import form_of, read_lines
from xstreamcast.edges.loading import Keep, Loaded, is_stream, load
from xstreamcast.edges.sources.compressed import is_compressed
from xstreamcast.errors import Error, error, not_given
from xstreamcast.evaluate.context import Inputs
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.nodes.node_tests import node_test
from xstreamcast.evaluate.run import run
from xstreamcast.evaluate.time.moments import Moment, date_time, instant_from
from xstreamcast.functions.call import FetchedText
from xstreamcast.functions.signature import FN
from xstreamcast.history.history import History, forked
from xstreamcast.history.query import HistoryQuery, When, event_now, planned_instants
from xstreamcast.model import atomic as a
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.instant import parse_instant
from xstreamcast.model.items import Items
from xstreamcast.model.sequence_type import NodeItem
from xstreamcast.syntax import parse
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.program import GlobalVariable, Program
    from xstreamcast.edges.wire.decoder import OnError
    from xstreamcast.functions.registry import Function

_ELEMENT: Final = NodeItem("element")


@dataclass(frozen=True, slots=True)
class Options:
    """How streams are read, and as of when."""

    as_of: str | None = None
    between: tuple[str, str] | None = None
    strategy: str = "auto"
    clock: str = "event"  # or wall, or an instant
    on_error: OnError = "quarantine"
    keep: Keep | None = None
    modules: Modules | None = None  # what the query may load while it runs

    def __post_init__(self) -> None:
        _one_of("strategy", self.strategy, STRATEGIES)
        if _instant(self.clock) is None:
            _one_of("clock", self.clock, ("event", "wall", "an instant"))
        _one_of("on_error", self.on_error, ("quarantine", "stop"))
        if self.as_of is not None and self.between is not None:
            raise error("XSCU0005", "either as of an instant or between two; got both")


def _one_of(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise error("XSCU0005", f"{what} must be one of {', '.join(known)}; got {given}")


class Binding:
    """One run of a program over its inputs; they are read when the query needs them."""

    def __init__(self, program: Program, inputs: Mapping[str, Any], options: Options) -> None:
        self.program, self._inputs, self._options = program, inputs, options
        self.loaded: list[Loaded] = []
        self.histories: dict[str, History] = {}
        self._documents: dict[str, Items] = {}
        self.store = self._base_store()

    def run(self, document: Any = None) -> Items:
        """The items of the answer, whose nodes are in `store`."""
        return deep(lambda: self._run(document))

    def _run(self, document: Any) -> Items:
        return run(*self.prepared(document))

    def prepared(self, document: Any) -> tuple[Program, Inputs]:
        """The program as it is evaluated, and what it is evaluated over."""
        _refuse_endless(self.program)
        for name in sorted(self._named() & set(self._inputs)) if self._inputs else ():
            self._load(name, self._inputs[name])
        if is_stream(document):
            self._load("", document)
        if self._inputs or document is not None:
            self._refuse_past_of_documents()
        given = Inputs(self.store)
        when = self._when(given)
        if when is not None:
            given.clock = when.now
            given.current = date_time(when.now.instant, True, when.now)
        program = self.program
        if len(planned_instants(self.histories, when)):
            program = _as_written(program)
        program, strategy = with_streams(program, self.histories), self._options.strategy
        bound = HistoryQuery(program, self.histories, self.store, when, strategy, self._input)
        if "" in self.histories and when is not None:
            given.item = _nodes(bound.document(""))
        elif document is not None:
            given.item = self._document(document)
        self._bind(given, bound)
        return bound.program, given

    def _refuse_past_of_documents(self) -> None:
        """A document has no history."""
        options = self._options
        if options.as_of is None and options.between is None:
            return
        # a declared stream is a document that was computed as of that time
        if self.histories or any(isinstance(one, History) for one in self._inputs.values()):
            return
        word = "--as-of" if options.as_of is not None else "--between"
        raise error(
            "XSCU0005", f"{word} needs a stream of fragments; the inputs are documents",
            hint="a feed becomes one by a mapping: -i NAME=MAPPING:PLACE",
        )  # fmt: skip

    def _base_store(self) -> Store:
        """Where tapes go: next to those of a history that is handed in, which is not changed."""
        given = (one for one in self._inputs.values() if isinstance(one, History))
        first = next(given, None)
        return Store() if first is None else forked(first.store)

    def _named(self) -> set[str]:
        """The inputs that the program names, by stream(), doc() or a variable; maybe all."""
        found = {one.local for one in self.program.variables if one.external}
        found = {one for one in found if not isinstance(self._inputs.get(one), str)}  # a text
        for node in self._nodes():
            match node:
                case StreamInput(name):
                    found.add(name)
                case Call(function, (Const((name,)), *_)) if _opens(function):
                    found.add(str(name.value))
                case Call(function) | FunctionRef(function) if _opens(function):
                    found |= set(self._inputs)
                case _:
                    pass
        return found

    def _nodes(self) -> Iterator[Plan]:
        """All that the program consists of."""
        program = self.program
        plans = [program.body, *(one.body for one in program.functions)]
        plans += [one.value for one in program.variables if one.value is not None]
        for plan in plans:
            yield from descendants(plan)

    def _load(self, name: str, source: Any) -> None:
        """Read a stream; without a name it becomes the context item."""
        if isinstance(source, History):
            self.histories[name] = source
        elif is_stream(source):
            options = self._options
            loaded = load(
                name or "input", source, self.store, on_error=options.on_error, keep=options.keep,
                immutable=paths_of(self.program), query=self._alone(name),
            )  # fmt: skip
            self.loaded.append(loaded)
            self.histories[name] = loaded.history

    def _alone(self, name: str) -> tuple[Program, str] | None:
        """The program and its strategy, if it reads this stream and nothing else, up to now."""
        options = self._options
        calls = (node for node in self._nodes() if isinstance(node, Call | FunctionRef))
        opens = any(_opens(node.function) for node in calls)
        plain = options.clock == "event" and options.between is None
        alone = plain and not opens and self._named() == {name}
        return (self.program, options.strategy) if alone else None

    def _when(self, given: Inputs) -> When | None:
        options = self._options
        requested = requested_when(options)
        if requested is not None:
            return requested
        if options.clock == "wall":
            return When(Moment(*instant_from(given.current)), planned=self._projects())
        if options.clock != "event":
            return When(_moment("clock", options.clock), planned=self._projects())
        newest = event_now(self.histories)
        if newest is None and self.histories:
            newest = Moment(0)
        return None if newest is None else When(newest, planned=self._projects())

    def _projects(self) -> bool:
        return any(isinstance(node, IntervalProjection) for node in self._nodes())

    # -- inputs on request ------------------------------------------------------------------

    def _bind(self, given: Inputs, bound: HistoryQuery) -> None:
        given.streams, given.documents, given.texts = bound.stream, bound.document, self._text
        given.reach, given.trace = bound.reach, _traced
        given.collections, given.addresses = self._collection, self._addresses
        given.modules = self._options.modules or modules_of(self.program)
        for one in self.program.variables:
            if one.external and one.local in self.histories:
                self._documents[one.local] = _nodes(bound.document(one.local))
        for one in self.program.variables:
            if one.external and one.local in self._inputs:
                value = _value(self._inputs[one.local], partial(self._typed, one))
                given.variables = {**given.variables, (one.uri, one.local): value}

    def _input(self, name: str) -> Items:
        if name not in self._inputs:
            raise _unknown_input("FODC0002", name, self._inputs)
        if name not in self._documents:
            self._documents[name] = self._document(self._inputs[name])
        return self._documents[name]

    def _typed(self, declared: GlobalVariable) -> Items:
        """A document as a variable's value: itself, or where elements are declared, its root if
        that is one, else those of the root's children that are."""
        document, wanted = self._input(declared.local), declared.type.item
        if not isinstance(wanted, NodeItem) or wanted.kind != "element":
            return document
        root = self._children(document, wanted)
        return root if len(root) else self._children(self._children(document, _ELEMENT), wanted)

    def _children(self, nodes: Items, wanted: NodeItem) -> Items:
        _, found = self.store.step(nodes.values, "child", node_test(wanted, "child"))
        return Items.of_nodes(found)

    def _text(self, name: str) -> FetchedText:
        """The bytes of a named input: what doc() may read, unparsed-text() may too."""
        source = self._inputs.get(name)
        if isinstance(source, bytes):
            return FetchedText(source)
        if not isinstance(source, str | os.PathLike):
            raise _unknown_input("FOUT1170", name, self._inputs)
        return FetchedText(Path(source).read_bytes())

    def _collection(self, name: str | None) -> Items:
        """The documents of a named input: one, those of a list, a folder or a pattern."""
        return Items.concat([self._document(one) for one in self._collected(name)])

    def _addresses(self, name: str | None) -> list[str]:
        found = self._collected(name)
        return [
            one.absolute().as_uri() if isinstance(one, Path) else str(name)
            for one in found
            if isinstance(one, Path) or len(found) == 1  # others have no address of their own
        ]

    def _collected(self, name: str | None) -> list[Any]:
        """The sources of a collection: what is a path, as one."""
        if name is None or name not in self._inputs:
            known = ", ".join(self._inputs) or "none"
            what = "default collection" if name is None else f"collection named {name}"
            raise error("FODC0002", f"there is no {what}", hint=f"the inputs are {known}")
        given = self._inputs[name]
        found: list[Any] = []
        for one in given if isinstance(given, list | tuple) else [given]:
            found += map(Path, paths(one)) if isinstance(one, str | os.PathLike) else [one]
        return found

    def _document(self, source: Any) -> Items:
        """Documents one after another, and those of a folder, are one with several roots."""
        if isinstance(source, str | os.PathLike):
            files = paths(source)
            form = form_of(files[0])
            if form is not None and all(form_of(one) == form for one in files):
                return _nodes(read_lines(self.store, form, files, chunks))
            if len(files) == 1:
                name = os.fspath(source)
                if os.path.isfile(files[0]) and not is_compressed(files[0]):  # without a copy
                    return _nodes(self.store.read(Path(files[0]), mode="sequence", name=name))
                with opened(files[0]) as file:
                    return _nodes(self.store.read(file, mode="sequence", name=name))
            source = b"".join(chunk for path in files for chunk in chunks(path))
        return _nodes(self.store.read(source, mode="sequence"))


def _unknown_input(code: str, name: str, inputs: Mapping[str, Any]) -> Error:
    """The error for a name that no input has, with the names there are."""
    hint = names_of_inputs(inputs, name) if inputs else "no input has a name: -i NAME=SOURCE"
    return not_given(code, f"there is no input named {name}", hint=hint)


def _refuse_endless(program: Program) -> None:
    """The answer is final here: what needs the end of a sequence declared with ** is refused."""
    if any(one.infinite for one in program.variables):
        refuse_blocked(_as_written(program))


def _as_written(program: Program) -> Program:
    """The program with every path where it was written: a projection reads more than a variable."""
    source, libraries = program.source, modules_of(program)

    def lowered() -> Program:
        return lower(modules(parse(source.text, source.name))[program.name], modules=libraries)

    return deep(lowered)


def _opens(function: Function) -> bool:
    return function.uri == FN and function.local in ("doc", "doc-available")


def _traced(text: str) -> None:
    """The output of fn:trace, separate from the answer."""
    sys.stderr.write(text + "\n")


def _nodes(handle: int) -> Items:
    return Items.of_nodes(np.array([handle], np.int64))


def _instant(text: str) -> tuple[int, bool] | None:
    return parse_instant(text) or parse_instant(with_seconds(text))


def requested_when(options: Options) -> When | None:
    """What is now where the words say it: --between or --as-of."""
    if options.between is not None:
        begin, end = (_moment("between", text) for text in options.between)
        if begin.instant > end.instant:
            said = " ".join(options.between)
            raise error("XSCU0005", f"between must begin before it ends; got {said}")
        return When(end, (begin, end))
    return None if options.as_of is None else When(_moment("as-of", options.as_of))


def _moment(option: str, text: str) -> Moment:
    found = _instant(text)
    if found is None:
        hint = "such as 2026-11-15T09:00:00, or 2026-11-15"
        raise error("XSCU0005", f"{option} must be a dateTime or a date; got {text}", hint=hint)
    return Moment(*found)


def _value(value: Any, document: Any) -> Items:
    """A Python value as items; paths and bytes are documents, strings are untyped text."""
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
        case bytes() | os.PathLike() | History():
            found: Items = document()
            return found
        case _:
            raise error(
                "XSCU0005", f"an input must be a path, XML or a value; got {type(value).__name__}"
            )
