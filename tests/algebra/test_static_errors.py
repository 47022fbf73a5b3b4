"""Static errors: the code that SaxonC-HE gives, wherever the mistake stands."""

from __future__ import annotations

import re

import pytest
from saxonche import PySaxonApiError, PySaxonProcessor

from xstreamcast.algebra.lowering import lower
from xstreamcast.errors import Error
from xstreamcast.syntax import parse

# A place for a mistake: how it is wrapped must not change what it is.
PLACES = {
    "alone": "{}",
    "in a for": "for $i in 1 to 2 return ({})",
    "in a where": "for $i in 1 where exists(({})) return $i",
    "in an order by": "for $i in 1 order by count(({})) return $i",
    "in a window": "for tumbling window $w in 1 start when true() end when exists(({})) return 1",
    "in a constructor": "<a>{{ {} }}</a>",
    "in an attribute": "attribute b {{ {} }}",
    "in an inline function": "function($q) {{ {} }}(1)",
    "in a predicate": "(1, 2)[exists(({}))]",
    "in a branch": "if (count(1) = 1) then ({}) else ()",
    "in a try": "try {{ {} }} catch * {{ 1 }}",
    "in a function": "declare function local:f() {{ {} }}; local:f()",
    "in a variable": "declare variable $v := ({}); $v",
}
MISTAKES = (
    "$nowhere",
    "let $a := 1 return $A",
    "(for $a in 1 return 1), $a",
    "some $a in $a satisfies 1",
    "typeswitch (1) case $a as xs:string return 1 default return $a",
    "try { 1 } catch * { 2 }, $err:code",
    "nosuch()",
    "count()",
    "count(1, 2)",
    "local:nosuch(1)",
    "nosuch#1",
    "count#7",
    "nowhere:f()",
    "xs:nosuch('a')",
    "xs:anyAtomicType('a')",
    "xs:integer(1, 2)",
    "1 cast as xs:nosuch",
    "1 cast as nosuch",
    "1 cast as xs:anyAtomicType",
    "1 castable as xs:NOTATION",
    "1 castable as xs:untyped",
    "1 instance of nosuch",
    "1 instance of xs:nosuch",
    "1 instance of xs:anyType",
    "1 treat as nowhere:type",
    "let $a as nosuch := 1 return $a",
    "<a/>/nowhere:b",
    "<a/>/@nowhere:b",
    "<a/>/nowhere:*",
    "<a/>/element(nowhere:b)",
    "<a/>/element(*, xs:nosuch)",
    "<a/>/schema-element(b)",
    "<nowhere:a/>",
    "<a nowhere:b='1'/>",
    "element nowhere:a {}",
    "attribute nowhere:a {}",
    "<a b='1' b='2'/>",
    "<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>",
    "<a xmlns:p='u' xmlns:p='v'/>",
    "<a xmlns='u' xmlns='v'/>",
    "<a xmlns:p=''/>",
    "<a xmlns:xml='u'/>",
    "<a xmlns:p='http://www.w3.org/XML/1998/namespace'/>",
    "<a xmlns:xmlns='u'/>",
    "for $a at $a in 1 return $a",
    "for $a in 1 group by $b return $a",
    "let $o := 1 return for $a in 1 group by $o return $a",
    "for $a in 1 order by $a collation 'http://nowhere.example/' return $a",
    "for tumbling window $w in 1 start $w when true() return 1",
    "for sliding window $w in 1 start $s at $s when true() end when true() return 1",
    "function($a, $a) { 1 }",
    "%public function($a) { 1 }",
    "%xs:mine function($a) { 1 }",
    "(# nowhere:p #) { 1 }",
    "(# xs:p #) {}",
)
# What the specification refuses and the oracle lets pass.
STRICTER = {
    "<a xmlns:p='http://www.w3.org/2000/xmlns/'/>": "XQST0070",
    "for $a in 1 group by $a collation 'http://nowhere.example/' return $a": "XQST0076",
}
PROLOGS = (
    "declare function f() { 1 }; 1",
    "declare function fn:f() { 1 }; 1",
    "declare function xs:f() { 1 }; 1",
    "declare function math:f() { 1 }; 1",
    "declare function nowhere:f() { 1 }; 1",
    'declare default function namespace ""; declare function f() { 1 }; 1',
    "declare function local:f($a, $a) { 1 }; 1",
    "declare function local:f($a) { 1 }; declare function local:f($b) { 2 }; 1",
    'declare namespace l = "http://www.w3.org/2005/xquery-local-functions";'
    " declare function local:f() { 1 }; declare function l:f() { 2 }; 1",
    "declare variable $a := 1; declare variable $a := 2; $a",
    'declare namespace p = "u"; declare variable $p:a := 1; declare variable $Q{u}a := 2; 1',
    "declare variable $a := $b; declare variable $b := $a; $a",
    "declare variable $a := local:f(); declare function local:f() { $a }; $a",
    'declare namespace p = "u"; declare namespace p = "v"; 1',
    'declare namespace xml = "u"; 1',
    'declare namespace p = "http://www.w3.org/2000/xmlns/"; 1',
    'declare namespace xs = ""; xs:integer(1)',
    'declare default element namespace "u"; declare default element namespace "v"; 1',
    'declare default element namespace "http://www.w3.org/2000/xmlns/"; 1',
    'declare default collation "http://nowhere.example/"; 1',
    'declare base-uri "http://a/"; declare base-uri "http://b/"; 1',
    "declare ordering ordered; declare ordering ordered; 1",
    "declare construction strip; declare construction strip; 1",
    "declare boundary-space strip; declare boundary-space strip; 1",
    "declare copy-namespaces preserve, inherit; declare copy-namespaces preserve, inherit; 1",
    "declare default order empty least; declare default order empty least; 1",
    "declare context item := 1; declare context item := 2; 1",
    'declare decimal-format local:d NaN = "x"; declare decimal-format local:d NaN = "y"; 1',
    'declare decimal-format local:d NaN = "x" NaN = "y"; 1',
    'declare decimal-format local:d digit = "ab"; 1',
    'declare decimal-format local:d digit = "," ; 1',
    "declare %public %private function local:f() { 1 }; 1",
    "declare %public %private variable $a := 1; 1",
    "declare %xs:mine variable $a := 1; 1",
    'declare option output:nosuch "x"; 1',
    'declare option output:indent "yes"; declare option output:indent "no"; 1',
    'declare option nowhere:o "x"; 1',
)


@pytest.fixture(scope="module")
def saxon():
    with PySaxonProcessor(license=False) as processor:
        yield processor


def saxon_code(processor: PySaxonProcessor, query: str) -> str | None:
    compiler = processor.new_xquery_processor()
    compiler.set_query_content(query)
    try:
        compiler.run_query_to_string()
    except PySaxonApiError as caught:
        found = re.findall(r"\b(?:X[PQ][A-Z]{2}|FO[A-Z]{2}|SX[A-Z]{2})\d{4}\b", str(caught))
        return next((code for code in found if not code.startswith("SX")), str(caught))
    return None


def our_code(query: str) -> str | None:
    try:
        lower(parse(query))
    except Error as caught:
        return caught.code
    return None


@pytest.mark.parametrize("place", PLACES)
def test_a_mistake_has_the_code_of_the_oracle_wherever_it_stands(saxon, place) -> None:
    queries = [PLACES[place].format(mistake) for mistake in MISTAKES]
    pairs = {query: (our_code(query), saxon_code(saxon, query)) for query in queries}
    assert {query: pair for query, pair in pairs.items() if pair[0] != pair[1]} == {}


@pytest.mark.parametrize("query", PROLOGS)
def test_a_mistake_of_the_prolog_has_the_code_of_the_oracle(saxon, query) -> None:
    assert our_code(query) == saxon_code(saxon, query)


@pytest.mark.parametrize("query", STRICTER)
def test_where_the_oracle_is_lenient_the_specification_holds(saxon, query) -> None:
    assert (our_code(query), saxon_code(saxon, query)) == (STRICTER[query], None)
