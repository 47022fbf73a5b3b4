"""What evaluating whole batches must not change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluate.asking import ask, code
from xstreamcast.evaluate.flwor import tuples


def test_nothing_is_evaluated_for_no_row() -> None:
    assert ask("for $x in () return error()") == []
    assert ask("for $x in 1 to 3 return if ($x > 3) then 1 div 0 else $x") == ["1", "2", "3"]
    assert ask("for $x in 1 to 3 where $x > 3 return 1 div 0") == []
    assert ask("()[1 div 0 = 1]") == []


def test_what_a_loop_does_not_change_is_still_made_anew_if_it_is_a_node() -> None:
    assert ask("let $n := for $i in 1 to 3 return <a/> return count($n | ())") == ["3"]


def test_only_the_rows_that_fail_are_caught() -> None:
    found = ask("for $d in (1, 0, 2, 0) return try { 4 idiv $d } catch err:FOAR0001 { -1 }")
    assert found == ["4", "-1", "2", "-1"]


def test_an_error_that_no_catch_names_passes() -> None:
    assert code("try { 1 div 0 } catch err:XPTY0004 { 1 }") == "FOAR0001"


def test_closures_made_in_a_loop_keep_their_own_values() -> None:
    assert ask("for $f in (for $i in 1 to 3 return function($x) { $x * $i }) return $f(10)") == [
        "10", "20", "30",
    ]  # fmt: skip


def test_recursion_goes_deep() -> None:
    text = "declare function local:f($n) { if ($n = 0) then 0 else 1 + local:f($n - 1) }; "
    assert ask(text + "local:f(5000)") == ["5000"]


def test_endless_recursion_is_an_error() -> None:
    text = "declare function local:f($n) { 1 + local:f($n + 1) }; local:f(0)"
    assert code(text) == "XSCD0001"


@pytest.mark.parametrize(
    "text",
    [
        "for $a in 1 to 9 for $b in 1 to $a where ($a + $b) mod 3 = 0 return $a * 10 + $b",
        "for $a in 1 to 9, $b in 1 to 9 order by $b descending, $a return $a * 10 + $b",
        "for $a in 1 to 9, $b in 1 to 9 group by $k := $a * $b mod 4 return ($k, sum($a))",
        "for $a in 1 to 9, $b in 1 to 9 count $c where $c mod 7 = 0 return ($a, $b)",
        "for $r in 1 to 3 return some $a in 1 to 9, $b in 1 to 9 satisfies $a * $b = $r * 20",
    ],
)
def test_morsels_change_no_answer(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ask(text)
    monkeypatch.setattr(tuples, "MORSEL", 5)
    assert ask(text) == whole


def test_variables_from_the_caller_are_converted_from_text() -> None:
    text = "declare variable $n as xs:integer external; $n + 1"
    assert ask(text, n="41") == ["42"]
    assert ask(text, n=41) == ["42"]
    assert code(text) == "XPDY0002"
    assert code(text, n=1.5) == "XPTY0004"


def test_documents_are_read_only_if_they_are_given() -> None:
    assert code('doc("file.xml")') == "FODC0002"
    assert ask('doc("d")/a/b', d=b"<a><b/></a>") == ["<b/>"]
    assert ask('stream("d")/a/b', d=b"<a><b/></a>") == ["<b/>"]


def test_a_pair_that_compares_so_decides_before_one_that_fails() -> None:
    assert ask("//b <= 2", "<a><b>1</b><b>x</b></a>") == ["true"]
    assert code("//b <= 2", "<a><b>3</b><b>x</b></a>") == "FORG0001"


def test_where_one_operand_is_empty_the_other_is_not_looked_at() -> None:
    assert ask("for $x in (1, 2) return ((), $x)[2][. = 3] + (1 div 0)") == []


def test_untyped_values_become_names_by_the_namespaces_of_the_query() -> None:
    prolog = 'declare namespace z = "urn:z"; '
    assert ask(prolog + "xs:untypedAtomic('z:a') = (<b/>, <z:a/>) ! node-name(.)") == ["true"]


def test_no_namespace_sensitive_type_is_made_from_untyped_values() -> None:
    for kind in ("QName", "NOTATION"):
        text = f"declare function local:f($q as xs:{kind}) {{ 1 }}; local:f(<a>xs:integer</a>)"
        assert code(text) == "XPTY0117"


def test_a_mixture_is_told_apart_by_where_it_stands() -> None:
    mixed = "<a><b/><b/></a>/b/(if (position() = 1) then 1 else .)"
    assert code(mixed) == "XPTY0018"
    assert code(mixed + "/c") == "XPTY0019"
    assert code(mixed + "/c[1]") == "XPTY0019"


def test_a_text_is_read_only_if_it_is_an_input(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("one\ntwo")
    assert ask('unparsed-text-lines("notes")', notes=tmp_path / "notes.txt") == ["one", "two"]
    assert code(f'unparsed-text("{tmp_path}/notes.txt")') == "FOUT1170"
    assert ask('unparsed-text-available("other")', notes=b"") == ["false"]


def test_trace_speaks_beside_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask('trace(1 + 1, "sum")') == ["2"]
    assert capsys.readouterr().err == "sum: 2\n"


@pytest.mark.parametrize("word", ["+", "!", "||", "|", "and"])
def test_long_chains_run(word: str) -> None:
    chain = f" {word} ".join(["$x"] * 1900)
    assert len(ask(f"for $x in <a>1</a> return {chain}")) == 1
