"""Expressions of XCQL as expressions of XQuery; what is no XCQL stays as it was written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from xstreamcast.algebra.lowering.literals import with_seconds
from xstreamcast.algebra.translate import binding, paths
from xstreamcast.algebra.translate import words as w
from xstreamcast.algebra.translate.naming import Naming
from xstreamcast.algebra.translate.parts import everything, rebuilt
from xstreamcast.algebra.translate.scope import ShapeScope
from xstreamcast.algebra.translate.shapes import LOOSE, PLAIN, Shape, Uncovered, whole
from xstreamcast.errors import error
from xstreamcast.model.structure import TagStructure
from xstreamcast.syntax import times
from xstreamcast.syntax import tree as t

Translated = tuple[t.Expr, Shape]

# Functions that look at nodes no closer than to count them, …
_COUNTING: Final = frozenset(("count", "exists", "empty", "not", "boolean"))
# … and functions that give values, never the nodes they are given.
_VALUES: Final = frozenset(
    (
        *("sum", "avg", "min", "max", "string", "data", "number", "concat", "contains", "abs"),
        *("starts-with", "ends-with", "substring", "substring-before", "substring-after"),
        *("string-join", "string-length", "normalize-space", "upper-case", "lower-case"),
        *("translate", "matches", "replace", "tokenize", "name", "local-name", "node-name"),
        *("namespace-uri", "distinct-values", "deep-equal", "index-of", "round", "floor"),
        *("ceiling", "position", "last", "true", "false", "dateTime", "vtFrom", "vtTo"),
        *("current-dateTime", "error", "serialize", "string-to-codepoints"),
    )
)
# Functions of the current instant, which is that of the clock, and the types that they cast it to.
_CURRENT: Final = {"current-dateTime": "", "current-date": "date", "current-time": "time"}
_PLAIN: Final = (
    *(
        t.ComparisonExpr,
        t.IntervalComparison,
        t.AndExpr,
        t.OrExpr,
        t.ConcatExpr,
        t.RangeExpr,
        t.ArithmeticExpr,
        t.UnaryExpr,
    ),
    *(t.InstanceOfExpr, t.CastAs, t.CastableAs, t.DirectElement, t.DirectComment, t.DirectPI),
    *(t.ComputedElement, t.ComputedAttribute, t.ComputedDocument, t.ComputedText),
    *(t.ComputedComment, t.ComputedPI, t.ComputedNamespace, t.StringConstructor),
)


@dataclass(slots=True)
class Translator:
    """One translation: `structures` is None for CaQ, where every stream is its temporal view."""

    naming: Naming
    structures: dict[str, TagStructure] | None = None
    links: bool = False  # QaC+
    defined: frozenset[tuple[str, int]] = frozenset()  # functions given with the query
    planned: bool = False  # whether something may be valid after now
    known: frozenset[str] = frozenset()  # streams, if a document has one of these names
    timed: bool = False  # whether the query reads streams: their clock is the current instant
    streams: list[str] = field(default_factory=list)  # those met, in their order

    def settled(self, found: t.Expr, scope: ShapeScope) -> t.Expr:
        """The expression where its value is looked at as a whole: holes are filled."""
        return settle(*self.expression(found, scope))

    def expression(self, found: t.Expr, scope: ShapeScope) -> Translated:
        """The expression and what is known of its value."""
        if isinstance(found, t.ComparisonExpr):
            found = times.compared(found)
        elif isinstance(found, t.ArithmeticExpr):
            found = times.added(found)
        match found:
            case t.TimeLiteral() | t.TimeConstant():
                return self._time(found, scope), PLAIN
            case t.VarRef(name):
                return w.reached(found, scope.ends_around(name)), scope.variable(name)
            case t.ContextItemExpr():
                return w.reached(found, scope.ends_around(None)), scope.focus
            case t.PathExpr() | t.AxisStep() | t.SimpleMapExpr():
                return paths.path(self, found, scope)
            case t.FilterExpr(base, predicates):
                return paths.filtered(self, base, predicates, scope)
            case t.FunctionCall():
                return self._call(found, scope)
            case t.IntervalProjectionExpr() | t.VersionProjectionExpr():
                return self._projection(found, scope)
            case t.IntervalComparison(word, left, right):
                sides = self._lifespans(left, scope), self._lifespans(right, scope)
                return w.call("allen", t.StringLiteral(word), *sides), PLAIN
            case t.Flwor() | t.QuantifiedExpr() | t.InlineFunction() | t.TypeSwitchExpr():
                return binding.binding(self, found, scope)
            case t.IfExpr(test, then, otherwise):
                return self._if(found, test, then, otherwise, scope)
            case _:
                return self._other(found, scope)

    def _other(self, found: t.Expr, scope: ShapeScope) -> Translated:
        shapes: list[Shape] = []

        def inner(part: t.Expr) -> t.Expr:
            made, shape = self.expression(part, scope)
            shapes.append(shape)
            return settle(made, shape)

        made = rebuilt(found, inner)
        plain = isinstance(found, _PLAIN) or all(shape == PLAIN for shape in shapes)
        return made, PLAIN if plain else LOOSE

    def _if(
        self, found: t.IfExpr, test: t.Expr, then: t.Expr, otherwise: t.Expr, scope: ShapeScope
    ) -> Translated:
        condition = self.expression(test, scope)[0]
        one, two = self.expression(then, scope), self.expression(otherwise, scope)
        made = replace(found, test=condition, then=settle(*one), otherwise=settle(*two))
        return made, PLAIN if one[1] == two[1] == PLAIN else LOOSE

    def _time(self, found: t.TimeLiteral | t.TimeConstant, scope: ShapeScope) -> t.Expr:
        match found:
            case t.TimeLiteral("dateTime", text):
                return w.constructor("dateTime", with_seconds(text))
            case t.TimeLiteral(kind, text):
                return w.constructor(kind, text)
            case t.TimeConstant("now"):
                return w.NOW
            case t.TimeConstant("start"):
                return w.START
            case _ if scope.versions:
                return w.standard("count", t.VarRef(w.VERSIONS))
            case _:
                raise error("XPST0008", "last must be inside #[…], where versions are numbered")

    def _call(self, found: t.FunctionCall, scope: ShapeScope) -> Translated:
        name, given = found.name, found.arguments
        own = name.prefix in ("", "fn") and name.uri is None
        match name.local, given:
            case "stream", (t.StringLiteral(stream),) if own:
                made, shape = self._stream(stream)
                return w.reached(made, scope.ends), shape
            case "doc", (t.StringLiteral(stream),) if own and stream in self.known:
                made, shape = self._stream(stream)
                return w.reached(made, scope.ends), shape
            case "vtFrom" | "vtTo", (operand,) if own and not isinstance(operand, t.Placeholder):
                return w.call(name.local, self._spanning(operand, scope)), PLAIN
            case local, () if own and local in _CURRENT and self.timed:
                instant = w.call("current")
                kind = _CURRENT[local]
                return instant if not kind else w.cast(kind, instant), PLAIN
            case local, _ if own and local in _COUNTING:
                return rebuilt(found, lambda part: self.expression(part, scope)[0]), PLAIN
        made, shape = self._other(found, scope)
        if not name.prefix and (name.local, len(given)) in self.defined:
            made = replace(found, name=t.Name(name.local, "xsc"), arguments=made.arguments)  # type: ignore[union-attr]
        values = (own and name.local in _VALUES) or name.prefix == "xs"
        if values or not self.structures:
            return made, PLAIN
        return made, LOOSE if shape != PLAIN or not own else PLAIN

    def _stream(self, stream: str) -> Translated:
        if stream not in self.streams:
            self.streams.append(stream)
        if self.structures is None:
            return w.view(stream), PLAIN
        found = self.structures.get(stream)
        if found is not None and found.open:
            raise Uncovered(f"the structure of {stream} does not declare which tags are fragments")
        if found is None:
            raise error(
                "XSCU0001",
                f"the tag structure of stream {stream} must be known to follow its holes",
                hint=f"--structure {stream}=FILE, or --strategy caq",
            )
        return w.view(stream), Shape("raw", stream, found, document=True, one=True)

    def _spanning(self, operand: t.Expr, scope: ShapeScope) -> t.Expr:
        """An expression whose lifespan is needed; elements with versions have their own."""
        made, shape = self.expression(operand, scope)
        if shape.kind == "raw" and not shape.document:
            assert shape.structure is not None
            if all(shape.structure[tag].type != "snapshot" for tag in shape.tags):
                return made
        return settle(made, shape)

    def _lifespans(self, operand: t.Expr | t.IntervalExpr, scope: ShapeScope) -> t.Expr:
        if isinstance(operand, t.IntervalExpr):
            begin, end = self._bounds(operand.begin, operand.end, scope)
            return w.call("interval", begin, end)
        return t.SimpleMapExpr(self._spanning(operand, scope), w.call("lifespan", w.HERE))

    def _bounds(
        self, begin: t.Expr, end: t.Expr | None, scope: ShapeScope
    ) -> tuple[t.Expr, t.Expr]:
        first = self.settled(begin, scope)
        return first, first if end is None else self.settled(end, scope)

    def _projection(
        self, found: t.IntervalProjectionExpr | t.VersionProjectionExpr, scope: ShapeScope
    ) -> Translated:
        shape = PLAIN if self.structures is None else whole()
        if isinstance(found, t.IntervalProjectionExpr):
            if self.planned and not _is_current(found):
                return self._reaching(found, scope), PLAIN
            return self._interval_projection(found, scope), shape
        base = self.settled(found.base, scope)
        counted = any(_is_last(part) for part in everything((found.first, found.last)))
        first, last = self._bounds(found.first, found.last, replace(scope, versions=True))
        if not counted:
            return w.call("version_projection", base, first, last), shape
        named = t.LetClause(w.VERSIONS, None, base)
        projected = w.call("version_projection", t.VarRef(w.VERSIONS), first, last)
        return t.Flwor((named,), projected), shape

    def _interval_projection(self, found: t.IntervalProjectionExpr, scope: ShapeScope) -> t.Expr:
        if _is_current(found):
            return w.call("current_projection", self.settled(found.base, scope))
        base, levels = _nested(found)
        begins, ends = self._common([self._bounds(one.begin, one.end, scope) for one in levels])
        return w.call("interval_projection", self.settled(base, scope), begins, ends)

    def _reaching(self, found: t.IntervalProjectionExpr, scope: ShapeScope) -> t.Expr:
        """A projection whose operand sees what is valid up to its end."""
        base, (_, *inner) = _nested(found)
        begin, end = self._bounds(found.begin, found.end, scope)
        name = t.Name(f"end{len(scope.ends) + 1}", "xsc")
        others = [self._bounds(one.begin, one.end, scope) for one in inner]
        begins, ends = self._common([(begin, t.VarRef(name)), *others])
        made = w.call(
            "interval_projection", self.settled(base, scope.projected(name)), begins, ends
        )
        return t.Flwor((t.LetClause(name, None, end),), made)

    @staticmethod
    def _common(bounds: list[tuple[t.Expr, t.Expr]]) -> tuple[t.Expr, t.Expr]:
        """The bounds of what intervals have in common."""
        if len(bounds) == 1:
            return bounds[0]
        begins, ends = (t.Sequence(tuple(each)) for each in zip(*bounds, strict=True))
        count = t.IntegerLiteral(len(bounds))
        return w.call("latest_of", begins, count), w.call("earliest_of", ends, count)


def _is_current(found: t.IntervalProjectionExpr) -> bool:
    """Whether it is e?[now]."""
    return all(
        isinstance(bound, t.TimeConstant) and bound.word == "now"
        for bound in (found.begin, found.begin if found.end is None else found.end)
    )


def _nested(found: t.IntervalProjectionExpr) -> tuple[t.Expr, list[t.IntervalProjectionExpr]]:
    """(what is projected, its projections from the outermost on)."""
    levels, base = [found], found.base
    while isinstance(base, t.IntervalProjectionExpr) and not _is_current(base):
        levels.append(base)
        base = base.base
    return base, levels


def settle(made: t.Expr, shape: Shape) -> t.Expr:
    """The value with its holes filled."""
    if not shape.has_holes() or shape.document:
        return made
    return w.call("temporalize", w.history(shape.stream), made)


def _is_last(node: object) -> bool:
    return isinstance(node, t.TimeConstant) and node.word == "last"
