"""A whole translation: the query's settings, the prolog, the streams, and the query over them.

The text runs as it is on any XQuery 3.1 processor. Each stream("name") is a file of fragments
in the canonical form, bound to the external variable `xsc:name`, or else read from `name.xml`
next to the query. `xsc:now` is the clock, else the largest valid time in the files; `xsc:until`
hides what is valid later, as --as-of does. `xsc:since` and `xsc:until` are what --between says.
The prolog has what the query needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from xstreamcast.algebra.translate import words as w
from xstreamcast.algebra.translate.binding import with_parameters
from xstreamcast.algebra.translate.expressions import Translator
from xstreamcast.algebra.translate.identity import refuse_identity
from xstreamcast.algebra.translate.naming import Naming
from xstreamcast.algebra.translate.needed import QUERY, needed_of
from xstreamcast.algebra.translate.parts import everything
from xstreamcast.algebra.translate.scope import ShapeScope
from xstreamcast.algebra.translate.shapes import Uncovered
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.structure import TagStructure
from xstreamcast.syntax import parse, print_module, room_for_nesting
from xstreamcast.syntax import tree as t

Strategy = Literal["caq", "qac", "qac+"]

_MAP: Final = "http://www.w3.org/2005/xpath-functions/map"
_OURS: Final = (("xsc", w.XSC), ("stream", w.STREAM), ("map", _MAP))
_VALUES: Final = t.VariableDecl | t.FunctionDecl | t.ContextItemDecl | t.OptionDecl


def translate(
    module: t.Module,
    strategy: Strategy = "caq",
    structures: Mapping[str, TagStructure] | None = None,
    definitions: str = "",
    *,
    planned: bool = False,
    between: bool = False,
) -> str:
    """The query without XCQL, with all it needs to run on another processor.

    `definitions` declares in XQuery, in the namespace xsc, functions that are registered here.
    `planned`: the clock may be before what is valid last, and projections may reach that;
    `between`: streams are projected to the time from xsc:since to xsc:until.
    """
    with room_for_nesting():
        given = parse(f"{definitions}\n()").prolog if definitions else ()
        when = _When(planned and _projects(module), between, frozenset(structures or ()))
        if strategy == "caq":
            return _translated(module, given, None, False, when, "")
        try:
            _refuse_times(when)
            refuse_identity(module)
            known = dict(structures or {})
            return _translated(module, given, known, strategy == "qac+", when, "")
        except Uncovered as why:
            note = f"(: materialised: {why} :)\n"
            return _translated(module, given, None, False, when, note)


@dataclass(frozen=True, slots=True)
class _When:
    """Facts in addition to the query: the clock, and which documents are streams."""

    planned: bool
    between: bool
    streams: frozenset[str]


def _projects(module: t.Module) -> bool:
    nodes = everything((module.prolog, module.body))
    return any(isinstance(node, t.IntervalProjectionExpr) for node in nodes)


def _refuse_times(when: _When) -> None:
    """Go no further where streams must be there as a whole."""
    if when.planned:
        raise Uncovered("a projection may reach planned states")
    if when.between:
        raise Uncovered("streams are projected to an interval")


def _translated(
    module: t.Module,
    given: tuple[t.Declaration, ...],
    structures: dict[str, TagStructure] | None,
    links: bool,
    when: _When,
    note: str,
) -> str:
    defined = frozenset(
        (d.name.local, len(d.parameters)) for d in given if isinstance(d, t.FunctionDecl)
    )
    do = Translator(
        Naming.of(module), structures, links, defined, when.planned, when.streams,
        bool(streams_of(module, when.streams)),
    )  # fmt: skip
    prolog, body = _declarations(do, module)
    settings = tuple(d for d in prolog if not isinstance(d, _VALUES))
    values = tuple(d for d in prolog if isinstance(d, _VALUES))
    tail = _printed(t.Module(None, (*given, *values), body), body=True)
    follows_holes = structures is not None
    sources = f"{_clock(do.streams)}\n{_sources(do.streams, when, follows_holes)}\n"
    needed = needed_of(sources + _prolog(), tail)
    names = _namespaces(settings, f"{needed}\n{tail}")
    head = _printed(replace(module, prolog=(*settings, *names)))
    return f"{head}{needed}{QUERY if needed else ''}{note}{tail}\n"


def _declarations(do: Translator, module: t.Module) -> tuple[list[t.Declaration], t.Expr]:
    """The prolog and the body; variables first, for functions may use them."""
    scope = ShapeScope()
    made: dict[int, t.Declaration] = {}
    for number, found in enumerate(module.prolog):
        if isinstance(found, t.VariableDecl) and found.value is not None:
            value, shape = do.expression(found.value, scope)
            made[number] = replace(found, value=value)
            scope = scope.bind(found.name, shape)
    for number, found in enumerate(module.prolog):
        if isinstance(found, t.FunctionDecl) and found.body is not None:
            inner = with_parameters(found.parameters, scope, do.structures is None)
            made[number] = replace(found, body=do.settled(found.body, inner))
    prolog = [made.get(number, found) for number, found in enumerate(module.prolog)]
    return prolog, do.settled(module.body, scope)


def _namespaces(settings: tuple[t.Declaration, ...], text: str) -> tuple[t.Declaration, ...]:
    declared = {d.prefix for d in settings if isinstance(d, t.NamespaceDecl)}
    return tuple(
        t.NamespaceDecl(prefix, uri)
        for prefix, uri in _OURS
        if prefix not in declared and f"{prefix}:" in text
    )


def _printed(module: t.Module, body: bool = False) -> str:
    """The module's text; without `body`, its prolog alone."""
    if body:
        return print_module(module)
    text = print_module(replace(module, body=t.Sequence()))
    return text.removesuffix("()")


def _clock(streams: list[str]) -> str:
    documents = ", ".join(f"${w.document(stream).name}" for stream in streams)
    latest = f"xsc:latest(({documents}))" if streams else "fn:current-dateTime()"
    return "\n".join(
        [
            *(
                f"declare variable ${w.document(stream).name} as document-node() external "
                f":= fn:doc({_quoted(stream)});"
                for stream in streams
            ),
            "declare variable $xsc:since as xs:dateTime? external := ();",
            "declare variable $xsc:until as xs:dateTime? external := ();",
            "declare variable $xsc:now as xs:dateTime external :=",
            f"  ($xsc:until, {latest})[1];",
        ]
    )


def _quoted(stream: str) -> str:
    name = stream if stream.endswith(".xml") else f"{stream}.xml"
    return '"' + name.replace("&", "&amp;").replace('"', '""') + '"'


def _sources(streams: list[str], when: _When, follows_holes: bool) -> str:
    made = "".join(_source(stream, when.between, follows_holes) for stream in streams)
    plans = ", ".join(f"${w.plans(stream).name}" for stream in streams)
    return f"{made}declare variable $xsc:plans := ({plans});\n" if when.planned else made


def _source(stream: str, between: bool, follows_holes: bool) -> str:
    document, history, view, plans = (
        f"${one(stream).name}" for one in (w.document, w.history, w.view, w.plans)
    )
    shown = f"xsc:view({history})"
    if between:
        shown = f"xsc:interval_projection({shown}, $xsc:since, $xsc:until)"
    checked = f"xsc:cut_as_told({document})" if follows_holes else document
    return (
        f"declare variable {history} :=\n"
        f"  xsc:history({checked}, ($xsc:until, $xsc:now)[1]);\n"
        f"declare variable {view} := {shown};\n"
        f"declare variable {plans} := xsc:plan({document}, {view}, {history});\n"
    )


@cache
def _prolog() -> str:
    return files(__package__).joinpath("prolog.xq").read_text("utf-8")


def streams_of(module: t.Module, known: frozenset[str] = frozenset()) -> list[str]:
    """The streams that a query names; `known`: those that it may read by doc("name") as well."""
    calls = (
        (node.name.local, node.arguments[0].value)
        for node in everything((module.prolog, module.body))
        if isinstance(node, t.FunctionCall)
        and node.name.local in ("stream", "doc")
        and len(node.arguments) == 1
        and isinstance(node.arguments[0], t.StringLiteral)
    )
    return list(dict.fromkeys(name for word, name in calls if word == "stream" or name in known))
