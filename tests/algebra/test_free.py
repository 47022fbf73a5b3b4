"""What plans read from around them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given

from tests.algebra.plans import golden_queries, nested, program
from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import bound_variables, facts, free_variables, uses_focus
from xstreamcast.algebra.walk import STREAMS, descendants


def binders(plan: p.Plan) -> list[p.Variable]:
    """Every variable with each place that binds it."""
    found: list[p.Variable] = []
    for node in descendants(plan):
        match node:
            case p.ForEach(_, variable, _, position):
                found += [variable] + ([] if position is None else [position])
            case p.Let(_, variable) | p.CountTuples(_, variable) | p.TypeSwitch(variable):
                found.append(variable)
            case p.ForWindow():
                found.append(node.variable)
                for boundary in (node.start, node.end):
                    found += [] if boundary is None else boundary.variables()
            case p.GroupBy(_, keys, carried):
                found += [key.variable for key in keys] + [after for _, after in carried]
            case p.Inline(parameters):
                found += [one.variable for one in parameters]
            case _:
                pass
    return found


@given(nested())
def test_nothing_is_free_in_a_whole_query_and_no_number_is_given_twice(query: str) -> None:
    body = program(query).body
    assert free_variables(body) == frozenset()
    assert not [variable for variable, n in Counter(binders(body)).items() if n > 1]


@given(nested())
def test_what_is_free_in_a_node_is_free_or_bound_around_it(query: str) -> None:
    for node in descendants(program(query).body):
        inside = set().union(*(facts(child).used for child in descendants(node)))
        assert free_variables(node) <= inside


@pytest.mark.parametrize("query", golden_queries())
def test_only_declared_variables_are_free_in_the_body(query: str) -> None:
    whole = program(query)
    declared = {one.variable for one in whole.variables}
    assert free_variables(whole.body) <= declared


@pytest.mark.parametrize(
    ("query", "reads"),
    [
        (".", True),
        ("a/b", True),
        ("<a/>/b", False),
        ("(1, 2)[. = 1]", False),
        ("(1, 2)[a]", False),
        ("position()", True),
        ("(1, 2)[last()]", False),
        ("(last(), 1)[1]", True),
        ("string()", True),
        ("string(1)", False),
        ("(1, 2) ! string()", False),
        ("function() { . }", False),
        ("for $x in (1, 2) where . = $x return $x", True),
        ("some $x in a satisfies $x", True),
        ("/", True),
        ("<a>{ . }</a>", True),
        ("1", False),
    ],
)
def test_the_focus_is_read_where_nothing_inside_sets_it(query: str, reads: bool) -> None:
    assert uses_focus(program(query).body) is reads


def test_a_stream_tells_what_its_tuples_bind() -> None:
    body = program("for $a at $i in (1, 2) let $b := $a group by $k := $b return ($k, $a)").body
    assert isinstance(body, p.Return)
    assert [variable.name for variable in bound_variables(body.source)] == ["k", "a"]
    assert isinstance(body.source, STREAMS)


def test_new_nodes_and_assignments_are_known() -> None:
    made = facts(program("<a/>").body)
    assert made.makes_nodes
    assert made.pure
    text = "declare execution sequential; declare variable $v := 1; { set $v := 2; $v }"
    assert not facts(program(text).body).pure
