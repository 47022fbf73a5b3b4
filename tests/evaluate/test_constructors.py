"""Constructors in constructors: what stands by itself is a part, what stands in braces a copy."""

from __future__ import annotations

import pytest

from tests.evaluate.asking import ask

PROLOG = """
declare namespace a = "urn:1"; declare namespace b = "urn:2";
declare function local:seen($e) {
  string-join($e/descendant-or-self::*
    ! string-join(sort(in-scope-prefixes(.)[. ne "xml"]), ","), "|")
};
"""


@pytest.mark.parametrize(
    ("made", "seen"),
    [
        ("<a:o><b:i><c/></b:i></a:o>", "a|b|"),
        ("<a:o>{<b:i/>}</a:o>", "a|a,b"),
        ("<a:o>{<b:i>{<c/>}</b:i>}</a:o>", "a|a,b|a,b"),
        ("<a:o>{<i><c/></i>}</a:o>", "a|a|a"),
        ('<o xmlns:z="urn:9"><c/></o>', "z|z"),
        ("element a:o { <c/> }", "a|a"),
    ],
)
def test_only_copies_inherit_namespaces(made: str, seen: str) -> None:
    assert ask(f"{PROLOG} local:seen({made})") == [seen]


def test_only_copies_lose_namespaces() -> None:
    text = 'declare copy-namespaces no-preserve, inherit; <r>{<b xmlns:p="u"/>}<b xmlns:p="u"/></r>'
    assert ask(text) == ['<r><b/><b xmlns:p="u"/></r>']


def test_what_is_not_inherited_is_not_written() -> None:
    assert ask(f"{PROLOG} <a:o><c>{{<a:x/>}}</c></a:o>") == [
        '<a:o xmlns:a="urn:1"><c><a:x/></c></a:o>'
    ]
