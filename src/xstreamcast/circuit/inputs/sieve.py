"""What a unit must hold to count at all, as far as its own content shows.

for $x in units where $x/speed > 80 return …  →  an element with a speed above 80

A unit without it gives nothing, whenever it is valid: it need not be looked at again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order, sources_of
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.sequence_type import NodeItem

# Functions of what an element holds: no clock, no node but those given, no position.
_PLAIN: Final = frozenset(
    {
        *("abs", "boolean", "ceiling", "concat", "contains", "count", "data", "empty", "ends-with"),
        *("exists", "false", "floor", "lower-case", "matches", "normalize-space", "not", "number"),
        *("round", "starts-with", "string", "string-length", "substring", "substring-after"),
        *("substring-before", "sum", "translate", "true", "upper-case"),
    }
)
_BOOLEAN: Final = frozenset(
    {"boolean", "contains", "empty", "ends-with", "exists", "matches", "not", "starts-with"}
)
_DOWN: Final = frozenset({"attribute", "child", "descendant"})
_LIFESPAN: Final = frozenset({"vtFrom", "vtTo"})  # attributes that no payload has


@dataclass(frozen=True, slots=True)
class Sieve:
    """Each of the tests holds of one element; those without a variable are tests of the focus."""

    element: NodeItem
    tests: tuple[tuple[p.Variable | None, p.Expression], ...]


def sieve_of(circuit: c.Circuit, name: str | None) -> Sieve | None:
    """What units of an input must hold, so that the circuit sees them; None: nothing is known."""
    order = in_order(circuit.root)
    units = [node for node in order if isinstance(node, c.Units) and node.input == name]
    if len(units) != 1 or units[0].inner or name in circuit.whole:
        return None
    found: Sieve | None = None
    if circuit.root is units[0]:
        found = _of_value(circuit.result, units[0].document)
    else:
        readers = [node for node in order if any(one is units[0] for one in sources_of(node))]
        if len(readers) == 1 and isinstance(readers[0], c.Rows) and not readers[0].scalars:
            found = _of_tuples(readers[0].tuples, units[0].document)
    return found if found is not None and found.tests else None


def _of_value(plan: p.Expression, document: p.Variable) -> Sieve | None:
    """Of an expression that is empty for a unit without the element."""
    found = _base(plan, document)
    if found is not None:
        return found
    match plan:
        case p.Return(source):
            return _of_tuples(source, document)
        case p.Path(left) | p.SimpleMap(left) | p.Filter(left) | p.Step(left):
            return _of_value(left, document)
        case _:
            return None


def _of_tuples(plan: p.Tuples, document: p.Variable) -> Sieve | None:
    match plan:
        case p.ForEach(p.Unit(), _, items, None, False):
            return _of_value(items, document)
        case p.Where(source, test):
            found = _of_tuples(source, document)
            bound = _variable(source, document)
            if found is None or bound is None or not _is_plain(test, bound):
                return found
            return replace(found, tests=(*found.tests, (bound, test)))
        case p.Let(source) | p.ForEach(source):
            return _of_tuples(source, document)
        case _:
            return None


def _variable(plan: p.Tuples, document: p.Variable) -> p.Variable | None:
    """The variable that is bound to the element itself."""
    match plan:
        case p.Where(source):
            return _variable(source, document)
        case p.ForEach(p.Unit(), variable, items) if _base(items, document) is not None:
            return variable
        case _:
            return None


def _base(plan: p.Expression, document: p.Variable) -> Sieve | None:
    """Of the elements that a path finds in a unit, filtered and projected."""
    match plan:
        case p.Filter(inner, predicate, False):
            found = _base(inner, document)
            if found is None or not (_is_truth(predicate) and _is_plain(predicate, None)):
                return found
            return replace(found, tests=(*found.tests, (None, predicate)))
        case p.IntervalProjection(inner):
            return _base(inner, document)
        case p.Step(above, "child" | "descendant", test) if _leads(above, document):
            named = test.kind == "element" and test.uri is not None and test.local is not None
            return Sieve(test, ()) if named and test.type_tag is None else None
        case _:
            return None


def _leads(plan: p.Expression, document: p.Variable) -> bool:
    """Whether it is a way down from a unit's document: where it begins does not matter."""
    match plan:
        case p.Step(above, "child" | "descendant" | "descendant-or-self"):
            return _leads(above, document)
        case p.Var(variable):
            return variable == document
        case _:
            return False


def _is_truth(plan: p.Expression) -> bool:
    """Whether a predicate is a test and no position."""
    match plan:
        case p.GeneralCompare() | p.ValueCompare() | p.And() | p.Or():
            return True
        case p.Step(axis=axis):
            return axis in _DOWN
        case p.Call(function):
            return function.local in _BOOLEAN
        case _:
            return False


def _is_plain(plan: p.Expression, bound: p.Variable | None) -> bool:
    """Whether a test reads nothing but the content of the element."""
    match plan:
        case p.Const():
            return True
        case p.Var(variable):
            return variable == bound
        case p.Focus():
            return bound is None
        case p.Step(inner, axis, test):
            hides = axis == "attribute" and (test.local is None or test.local in _LIFESPAN)
            return axis in _DOWN and not hides and _is_plain(inner, bound)
        case p.GeneralCompare(_, left, right) | p.ValueCompare(_, left, right):
            return _is_plain(left, bound) and _is_plain(right, bound)
        case p.Arithmetic(_, left, right):
            return _is_plain(left, bound) and _is_plain(right, bound)
        case p.And(operands) | p.Or(operands):
            return all(_is_plain(one, bound) for one in operands)
        case p.Call(function, args):
            plain = function.local in _PLAIN and function.deterministic and not function.focus
            return plain and all(_is_plain(one, bound) for one in args)
        case p.Cast(operand) | p.Castable(operand) | p.Convert(operand):
            return _is_plain(operand, bound)
        case _:
            return False
