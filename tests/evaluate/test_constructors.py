"""Constructors in constructors: what stands by itself is a part, what stands in braces a copy."""

from __future__ import annotations

import pytest

from tests.evaluate.asking import ask
from xstreamcast.evaluate.constructing import construct, content

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


SHAPES = (
    "<r>{$x/a, $x/b}</r>",
    "<r>{$x/node()}</r>",
    "<r>{$x/@k}</r>",
    "<r>{$x/@k, $x/a}</r>",
    '<r k="{$x/@k}" e="">{$x/a/text()} and {count($x/*), "é"}{()}{""}</r>',
    "<r><p>{$x/a}</p>-<q>{$x/b, 1, $x/b, 2, 3}</q><!--c--></r>",
    "<r><p>{string($x/a)}</p><q>{$x/a/text(), $x/b/text()}</q></r>",
    "<r>{document { $x/a/text(), $x/b }}</r>",
    '<r xmlns="urn:d" xmlns:p="urn:p"><p:q p:k="1">{$x}</p:q></r>',
    "element { name($x/*[1]) } { $x/b }",
    "element r { attribute n { $x/@k }, $x/a }",
    'element r { attribute n { $x/@k }, attribute m { 2 }, "t", element s { $x/a }, 1 }',
    "element r { element s { }, $x/a, comment { 1 }, 2 }",
    "attribute n { $x/@k }",
    "<r>{$x/a[. > 5]}{<s>{$x/b}</s>, <t/>}</r>",
)
ROWS = "".join(
    f'<x k="{i}"><a>{i}</a>t{i}<!--{i}--><b xmlns:p="urn:p" p:z="{i}">&lt;é</b></x>'
    for i in range(12)
)


@pytest.mark.parametrize("shape", SHAPES)
def test_all_rows_at_once_make_what_each_row_makes(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = []
    for many in (1, 1000):
        monkeypatch.setattr(construct, "MANY", many)
        monkeypatch.setattr(content, "MANY", many)
        text = f"for $x in //x let $r := {shape} return ($r, count($r/descendant::node()))"
        answers.append(ask(text, f"<d>{ROWS}</d>"))
    assert len(answers[0]) == 24
    assert answers[0] == answers[1]
