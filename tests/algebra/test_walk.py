"""Walking plans: children are reached, put back, and every node can be shown."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from hypothesis import given

from tests.algebra.plans import golden_queries, nested, program
from xstreamcast.algebra import plan as p
from xstreamcast.algebra.show import show
from xstreamcast.algebra.walk import NODES, bottom_up, children, descendants, map_children


def held(value: Any) -> list[Any]:
    """The plan nodes inside a value, found without the walk's own tables."""
    if type(value) in NODES:
        return [value]
    if isinstance(value, tuple):
        return [node for one in value for node in held(one)]
    if is_dataclass(value) and not isinstance(value, type):
        return [node for one in fields(value) for node in held(getattr(value, one.name))]
    return []


@pytest.mark.parametrize("query", golden_queries())
def test_children_are_all_nodes_that_a_node_holds(query: str) -> None:
    for node in descendants(program(query).body):
        inside = [found for one in fields(node) for found in held(getattr(node, one.name))]
        assert sorted(map(id, children(node))) == sorted(map(id, inside))


@given(nested())
def test_mapping_nothing_gives_the_plan_itself(query: str) -> None:
    body = program(query).body
    assert bottom_up(body, lambda node: node) is body


@given(nested())
def test_a_new_child_stands_where_the_old_one_stood(query: str) -> None:
    def doubled(node: Any) -> Any:
        return p.Comma((node, node)) if isinstance(node, p.Const) else node

    body = program(query).body
    before = sum(isinstance(node, p.Const) for node in descendants(body))
    after = sum(isinstance(node, p.Const) for node in descendants(bottom_up(body, doubled)))
    assert after == 2 * before


def test_map_children_reaches_parts_that_are_no_nodes() -> None:
    one, two = p.Const((p.Atom(6, 1),)), p.Const((p.Atom(6, 2),))
    plan = p.Switch(one, (p.SwitchCase((one,), one),), one)
    assert map_children(plan, lambda child: two) == p.Switch(two, (p.SwitchCase((two,), two),), two)


def test_spans_do_not_count_when_plans_are_compared() -> None:
    assert program("1 + 2").body == program("  1   +  2 ").body


def test_every_kind_of_node_is_shown_by_some_golden_query() -> None:
    """TupleJoin alone is made by rewrites; its drawing is tested below."""
    programs = [program(query) for query in golden_queries()]
    plans = [one.body for one in programs]
    plans += [f.body for one in programs for f in one.functions]
    seen = {type(node) for plan in plans for node in descendants(plan)}
    assert {kind.__name__ for kind in NODES - seen} == {"TupleJoin"}


def test_a_join_is_shown_with_both_sides_and_its_keys() -> None:
    x, y = p.Variable(1, "x"), p.Variable(2, "y")
    left = p.ForEach(p.Unit(), x, p.Var(p.Variable(3, "s")))
    right = p.ForEach(p.Unit(), y, p.Var(p.Variable(4, "t")))
    key = p.JoinKey(p.Var(x), p.Var(y), True, p.GeneralCompare("eq", p.Var(x), p.Var(y)))
    plan = p.Return(p.TupleJoin(left, right, (key,), p.Var(x)), p.Var(y))
    assert show(plan).splitlines() == [
        "flwor",
        "  join",
        "    left(for $x.1 in $s.3)",
        "    right(for $y.2 in $t.4)",
        "    on any-eq($x.1, $y.2)",
        "    where $x.1",
        "  return $y.2",
    ]
