"""Which expressions never fail: only these may be evaluated where the query would not have."""

from __future__ import annotations

from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.nodes.static_type import ITEM, NODE, Kinds, StaticType
from xstreamcast.functions.signature import FN
from xstreamcast.model.frozen import dataclass
from xstreamcast.rewrite.known import Known

_TEXT: Final = Kinds.NODE | Kinds.UNTYPED | Kinds.STRING
_TRUE_OR_FALSE: Final = Kinds.BOOLEAN | Kinds.NUMERIC | Kinds.STRING | Kinds.UNTYPED
_TOTAL: Final = frozenset({"count", "exists", "empty", "true", "false"})
_OF_TRUTH: Final = frozenset({"not", "boolean"})
_AXES_FROM_ROOT: Final = p.TreeRoot(p.Focus())


@dataclass(frozen=True, slots=True)
class Safety:
    """Judges expressions: `focus` is the type of the context item where one is certain.

    `given` was evaluated before, so a leading / in it will not fail again.
    """

    known: Known
    focus: StaticType | None = None
    given: tuple[p.Expression, ...] = ()

    def holds(self, plan: p.Expression) -> bool:
        """Whether the expression has a value whatever the data are."""
        match plan:
            case p.Const():
                return True
            case p.Var(variable):
                return variable not in self.known.globals
            case p.Focus() | p.Position() | p.Last():
                return self.focus is not None
            case p.TreeRoot():
                return plan == _AXES_FROM_ROOT and any(begins_at_root(one) for one in self.given)
            case p.Step(source):
                return self.nodes(source)
            case p.Path(left, right):
                return self.nodes(left) and self._inside(NODE).nodes(right)
            case p.Filter(source, predicate):
                return self.holds(source) and self._inside(self._type(source).each()).truth(
                    predicate
                )
            case p.Comma(parts):
                return all(map(self.holds, parts))
            case _:
                return self._judged(plan)

    def _judged(self, plan: p.Expression) -> bool:
        match plan:
            case p.And(operands) | p.Or(operands):
                return all(map(self.truth, operands))
            case p.GeneralCompare(_, left, right):
                return self.holds(left) and self.holds(right) and self._comparable(left, right)
            case p.If(test, then, otherwise):
                return self.truth(test) and self.holds(then) and self.holds(otherwise)
            case p.Call(function, args) if function.uri == FN and function.local in _TOTAL:
                return all(map(self.holds, args))
            case p.Call(function, (arg,)) if function.uri == FN and function.local in _OF_TRUTH:
                return self.truth(arg)
            case p.Return(source, result):
                return self.tuples(source) and self.holds(result)
            case p.Quantified(_, source, test):
                return self.tuples(source) and self.truth(test)
            case _:
                return False

    def tuples(self, plan: p.Tuples) -> bool:
        """Whether a stream of tuples never fails."""
        match plan:
            case p.Unit():
                return True
            case p.ForEach(source, _, items):
                return self.tuples(source) and self.holds(items)
            case p.Let(source, _, value):
                return self.tuples(source) and self.holds(value)
            case p.Where(source, test):
                return self.tuples(source) and self.truth(test)
            case _:
                return False

    def truth(self, plan: p.Expression) -> bool:
        """Whether the expression always has an effective boolean value."""
        kind = self._type(plan)
        has_one = kind.only(Kinds.NODE) or (kind.at_most_one and kind.only(_TRUE_OR_FALSE))
        return has_one and self.holds(plan)

    def nodes(self, plan: p.Expression) -> bool:
        """Whether the expression never fails and returns nodes only."""
        return self.holds(plan) and self._type(plan).only(Kinds.NODE)

    def _comparable(self, left: p.Expression, right: p.Expression) -> bool:
        a, b = self._type(left), self._type(right)
        texts = a.only(_TEXT) and b.only(_TEXT)
        return texts or (a.only(Kinds.NUMERIC) and b.only(Kinds.NUMERIC))

    def _type(self, plan: p.Expression) -> StaticType:
        return self.known.type_of(plan, self.focus or ITEM)

    def _inside(self, focus: StaticType) -> Safety:
        return Safety(self.known, focus, self.given)


def evaluated(plan: p.Tuples) -> tuple[p.Expression, ...]:
    """What the clauses up to here have evaluated wherever there is a tuple."""
    match plan:
        case p.ForEach(source, _, value) | p.Let(source, _, value) | p.Where(source, value):
            return (value, *evaluated(source))
        case _:
            return ()


def begins_at_root(plan: p.Expression) -> bool:
    """Whether a path starts with the root of the context item's tree."""
    while True:
        match plan:
            case p.Step(source) | p.Path(source) | p.Filter(source):
                plan = source
            case _:
                return plan == _AXES_FROM_ROOT
