"""Static types: what is promised of a value holds of the value SaxonC-HE computes."""

from __future__ import annotations

import pytest
from hypothesis import given
from saxonche import PySaxonApiError, PySaxonProcessor

from tests.algebra.plans import nested, program
from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.item_kinds import position_free, predicate_class, static_type
from xstreamcast.algebra.nodes.static_type import EVERY, NODES, NUMBER, TRUTH, Kinds, StaticType

DOCUMENT = "declare variable $d := <r><a x='1'>1</a><a x='2'>2<b/></a><c/></r>; "
EXPRESSIONS = (
    "()",
    "1",
    "(1, 'a')",
    "1 to 3",
    "1 + 2",
    "xs:date('2020-01-01') - xs:date('2019-01-01')",
    "-(1)",
    "'a' || 1",
    "1 = 1",
    "1 eq ()",
    "$d/a",
    "$d/a/@x",
    "$d/a[1]",
    "$d//a/..",
    "$d/self::r",
    "$d/a[last()]",
    "$d/a[position() > 1]",
    "$d/a[@x = 2]",
    "$d/a/b | $d/c",
    "$d/a ! string(.)",
    "$d/a/count(.)",
    "count($d/a)",
    "for $a in $d/a return $a/@x",
    "for $a at $i in $d/a return $i",
    "for $a allowing empty in $d/nosuch return count($a)",
    "for $a in $d/a where $a/b return 'y'",
    "for $a in $d/a group by $k := $a/@x return $k",
    "for $a in $d/a group by $k := 1 return count($a)",
    "for tumbling window $w in 1 to 5 start when true() return $w",
    "for $a in $d/a order by $a return $a",
    "let $x := 3 return $x + 1",
    "if ($d/a) then 1 else 'a'",
    "some $x in $d/a satisfies $x/b",
    "1 instance of xs:string",
    "'1' cast as xs:integer",
    "() cast as xs:integer?",
    "xs:integer(())",
    "xs:boolean('true')",
    "xs:untypedAtomic('a')",
    "xs:NMTOKENS('a b')",
    "'1' castable as xs:integer",
    "$d/a treat as element()+",
    "<e/>",
    "text { () }",
    "attribute a { 1 }",
    "document { <a/> }",
    "comment { 'a' }",
    "function($a) { $a }",
    "function($a) { $a }(3)",
    "count#1",
    "switch (1) case 1 return 2 default return 'a'",
    "try { 1 } catch * { 'a' }",
    "typeswitch (1) case $i as xs:integer return $i default return ()",
    "(1, 2, 3)[2]",
    "(1, 2, 3)[position()]",
    "(1, 2, 3)[. = 2]",
    "(1 to 3) ! (., 'x')",
    "string-join(('a', 'b'))",
    "distinct-values((1, 1, 'a'))",
    "true() and false()",
)
KIND_OF = {
    "node()": Kinds.NODE,
    "xs:boolean": Kinds.BOOLEAN,
    "xs:numeric": Kinds.NUMERIC,
    "xs:string": Kinds.STRING,
    "xs:untypedAtomic": Kinds.UNTYPED,
    "function(*)": Kinds.FUNCTION,
}
TESTS = " else ".join(f"if ($i instance of {t}) then '{k.name}'" for t, k in KIND_OF.items())


@pytest.fixture(scope="module")
def saxon():
    with PySaxonProcessor(license=False) as processor:
        yield processor


def real_kinds(processor: PySaxonProcessor, prolog: str, expression: str) -> list[str]:
    """The kind of each item of the value."""
    query = f"{prolog} string-join(for $i in ({expression}) return {TESTS} else 'OTHER', ' ')"
    compiler = processor.new_xquery_processor()
    compiler.set_property("!omit-xml-declaration", "yes")
    compiler.set_query_content(query)
    return str(compiler.run_query_to_string()).split()


def assert_promised(promised: StaticType, kinds: list[str]) -> None:
    assert promised.low <= len(kinds)
    assert promised.high is None or len(kinds) <= promised.high
    assert promised.only(EVERY)
    assert all(Kinds[kind] & promised.kinds for kind in kinds)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_value_is_as_promised(saxon, expression: str) -> None:
    promised = static_type(program(DOCUMENT + expression).body)
    assert_promised(promised, real_kinds(saxon, DOCUMENT, expression))


@given(query=nested())
def test_the_value_of_a_generated_query_is_as_promised(saxon, query: str) -> None:
    promised = static_type(program(query).body)
    try:
        kinds = real_kinds(saxon, "", query)
    except PySaxonApiError:  # the query may fail: nothing is promised then
        return
    assert_promised(promised, kinds)


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("1 + 2", NUMBER),
        ("a = b", TRUTH),
        ("a/b", NODES),
        ("for $x in (1, 2) return $x", StaticType(Kinds.NUMERIC, 2, 2)),
        ("(1, 2)[1]", StaticType(Kinds.NUMERIC, 0, 1)),
        ("..", StaticType(Kinds.NODE, 0, 1)),
        ("for $x in a let $y := 1 return $x", NODES),
    ],
)
def test_what_rewrites_rely_on_is_known(query: str, kind: StaticType) -> None:
    assert static_type(program(query).body) == kind


@pytest.mark.parametrize(
    ("predicate", "kind", "free"),
    [
        ("1", "position", False),
        ("last()", "position", False),
        ("position()", "position", False),
        ("position() = 2", "truth", False),
        ("@x", "truth", True),
        ("@x = 1", "truth", True),
        ("b and c", "truth", True),
        ("'x'", "truth", True),
        ("$v", "either", False),
        ("count(b)", "position", False),
        ("b/position()", "either", False),
        ("(b, 1)", "either", False),
        ("b[1]", "truth", True),
        ("b[last()] = 2", "truth", True),
        ("last() > 2", "truth", False),
        ("not(b)", "truth", True),
    ],
)
def test_predicates_are_told_apart(predicate: str, kind: str, free: bool) -> None:
    body = program(f"declare variable $v external; a[{predicate}]").body
    assert isinstance(body, p.Filter)
    assert predicate_class(body.predicate) == kind
    assert position_free(body.predicate) is free
