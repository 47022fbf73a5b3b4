"""Loops as Python text: FLWOR of `for`, `let` and `where`, quantifiers, predicates, `!`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.evaluate.direct.shapes import (
    EMPTY,
    NOTHING,
    TRUTH,
    WHOLE,
    Unsupported,
    Value,
    ValueShape,
)
from xstreamcast.evaluate.direct.writing import Writing, only_lets
from xstreamcast.model.atomic import BOOLEAN, INTEGER, PRIMITIVE, STRING


def return_(writing: Writing, plan: p.Return) -> Value:
    """Variables and a result; or a list that a loop fills."""
    if only_lets(plan.source):
        writing.lets(plan.source)
        return writing.value(plan.result)
    out = writing.text.name()
    writing.text.add(f"{out} = []")
    with _loop(writing, plan.source):
        shape = _gathered(writing, out, writing.value(plan.result))
    return Value(f"tuple({out})", shape)


def _gathered(writing: Writing, out: str, value: Value) -> ValueShape:
    """Append the result of one iteration."""
    match value.shape.occurs:
        case "one":
            writing.text.add(f"{out}.append({value.code})")
        case "many":
            writing.text.add(f"{out} += {value.code}")
        case "optional" if value.shape != EMPTY:
            name = writing.text.name()
            with writing.text.inside(f"if ({name} := {value.code}) is not None:"):
                writing.text.add(f"{out}.append({name})")
        case _:
            raise Unsupported
    return ValueShape(value.shape.kind, "many")


@contextmanager
def _loop(writing: Writing, source: p.Tuples) -> Iterator[None]:
    """The block that is run for every tuple."""
    with ExitStack() as blocks:
        for clause in _clauses(source):
            match clause:
                case p.ForEach(allowing_empty=False):
                    blocks.enter_context(_each(writing, clause))
                case p.Let():
                    writing.bind(clause.variable, writing.value(clause.value))
                case p.Where():
                    test = writing.test(clause.test)
                    blocks.enter_context(writing.text.inside(f"if {test}:"))
                case _:
                    raise Unsupported
        yield


def _clauses(source: p.Tuples) -> list[p.Tuples]:
    """The clauses, outermost first."""
    found: list[p.Tuples] = []
    while not isinstance(source, p.Unit):
        found.append(source)
        if not isinstance(source, p.ForEach | p.Let | p.Where):
            raise Unsupported
        source = source.source
    return found[::-1]


@contextmanager
def _each(writing: Writing, clause: p.ForEach) -> Iterator[None]:
    items = _turns(writing, clause.items)
    name = f"v{clause.variable.number}"
    writing.variables[clause.variable.number] = Value(name, ValueShape(items.shape.kind, "one"))
    line = f"for {name} in {items.code}:"
    if clause.position is not None:
        place = f"v{clause.position.number}"
        writing.variables[clause.position.number] = Value(place, WHOLE)
        line = f"for {place}, {name} in enumerate({items.code}, 1):"
    with writing.text.inside(line):
        yield


def _turns(writing: Writing, plan: p.Expression) -> Value:
    """What a loop goes through: a range is not made first."""
    if isinstance(plan, p.Range):
        low, high = writing.value(plan.low), writing.value(plan.high)
        if low.shape == high.shape == WHOLE:
            return Value(f"span({low.code}, {high.code})", ValueShape(INTEGER, "many"))
    return _some(writing.many(plan))


def _some(items: Value) -> Value:
    if items.shape.kind < 0:
        raise Unsupported  # no items, so no type of them
    return items


def quantified(writing: Writing, plan: p.Quantified) -> Value:
    """A loop that ends with the first tuple that decides, where later ones cannot fail."""
    some, found = plan.kind == "some", writing.text.name()
    writing.text.add(f"{found} = {not some}")
    with _loop(writing, plan.source):
        before = writing.errors
        test = writing.test(plan.test)
        with writing.text.inside(f"if {test}:" if some else f"if not ({test}):"):
            writing.text.add(f"{found} = {some}")
            if writing.errors == before and _is_one_loop(plan.source):
                writing.text.add("break")
    return Value(found, TRUTH)


def _is_one_loop(source: p.Tuples) -> bool:
    return isinstance(source, p.ForEach) and isinstance(source.source, p.Unit)


# -- what has a focus ------------------------------------------------------------------------------


@contextmanager
def _focused(writing: Writing, item: str, place: str, items: Value) -> Iterator[None]:
    """The focus of a predicate or `!` over a named tuple."""
    before = writing.item, writing.position, writing.last
    writing.item = Value(item, ValueShape(items.shape.kind, "one"))
    writing.position = Value(place, WHOLE)
    writing.last = Value(f"len({items.code})", WHOLE)
    try:
        yield
    finally:
        writing.item, writing.position, writing.last = before


def simple_map(writing: Writing, plan: p.SimpleMap) -> Value:
    """A loop over the left side; a single item is looked at alone."""
    items = writing.text.named(_some(writing.many(plan.left)))
    out, item, place = writing.text.name(), writing.text.name("x"), writing.text.name("i")
    writing.text.add(f"{out} = []")
    with (
        _focused(writing, item, place, items),
        writing.text.inside(f"for {place}, {item} in enumerate({items.code}, 1):"),
    ):
        shape = _gathered(writing, out, writing.value(plan.right))
    return Value(f"tuple({out})", shape)


def filter_(writing: Writing, plan: p.Filter) -> Value:
    """The item at a place, or those for which the predicate is true."""
    if plan.reverse:
        raise Unsupported
    items = writing.text.named(_some(writing.many(plan.input)))
    optional = ValueShape(items.shape.kind, "optional")
    match plan.predicate:
        case p.Const(atoms=(p.Atom(tag, place),)) if PRIMITIVE.get(tag) == INTEGER:
            if place < 1:
                return NOTHING
            code = f"({items.code}[{place - 1}] if len({items.code}) >= {place} else None)"
            return Value(code, optional)
        case p.Last():
            return Value(f"({items.code}[-1] if {items.code} else None)", optional)
    found = facts(plan.predicate)
    if found.focus or found.position:
        return _kept(writing, plan, items, found.position)
    with _focused(writing, "", "", items):
        value = writing.value(plan.predicate)
    if value.shape.kind == INTEGER and value.shape.occurs != "many":
        return _at(writing, items, value, optional)
    name = writing.truth(_by_truth(value))
    return Value(f"({items.code} if {name} else ())", items.shape)


def _at(writing: Writing, items: Value, place: Value, optional: ValueShape) -> Value:
    """The item at a place that the query computes."""
    name = place.code if place.code.isidentifier() else writing.text.name()
    bound = name if name == place.code else f"({name} := {place.code})"
    test = f"0 < {bound} <= len({items.code})"
    if place.shape.occurs == "optional":  # nothing is no position, and not true
        test = f"{bound} is not None and 0 < {name} <= len({items.code})"
    return Value(f"({items.code}[{name} - 1] if {test} else None)", optional)


def _by_truth(value: Value) -> Value:
    """A predicate whose value is no position."""
    if value.shape.kind not in (BOOLEAN, STRING):
        raise Unsupported
    return value


def _kept(writing: Writing, plan: p.Filter, items: Value, placed: bool) -> Value:
    """The items that pass; as a comprehension where the predicate is one expression."""
    item, place = writing.text.name("x"), writing.text.name("i")
    with _focused(writing, item, place, items), writing.text.aside() as lines:
        value = writing.value(plan.predicate)
        if value.shape == WHOLE:
            test, placed = f"{place} == {value.code}", True
        else:
            test = writing.truth(_by_truth(value))
    turns = (
        f"{place}, {item} in enumerate({items.code}, 1)" if placed else f"{item} in {items.code}"
    )
    if not lines:
        return Value(f"tuple([{item} for {turns} if {test}])", items.shape)
    out = writing.text.name()
    writing.text.add(f"{out} = []")
    with writing.text.inside(f"for {turns}:"):
        writing.text.indented(lines)
        with writing.text.inside(f"if {test}:"):
            writing.text.add(f"{out}.append({item})")
    return Value(f"tuple({out})", items.shape)
