"""Library modules: found where they were given, each with its own names and its own text."""

from __future__ import annotations

from pathlib import Path

import pytest

from xstreamcast import query
from xstreamcast.errors import Error


@pytest.fixture
def lib(tmp_path: Path) -> Path:
    (tmp_path / "a.xqm").write_text(
        'module namespace a = "urn:a";\n'
        'import module namespace b = "urn:b";\n'
        'declare namespace p = "urn:of-a";\n'
        "declare variable $a:v := 40 + $b:two;\n"
        "declare function a:twice($x) { b:add($x, $x) };\n"
        "declare function a:name() { namespace-uri-from-QName(xs:QName('p:x')) };\n"
        "declare %private function a:hidden() { 1 };\n"
        "declare function a:seen() { a:hidden() };\n"
        "declare function a:fails() {\n  1 + 'x'\n};\n",
        "utf-8",
    )
    (tmp_path / "b.xqm").write_text(
        '(: a circle :) module namespace b = "urn:b";\n'
        'import module namespace a = "urn:a" at "a.xqm";\n'
        "declare variable $b:two := 2;\n"
        "declare function b:add($x, $y) { $x + $y };\n"
        "declare function b:around() { a:twice(3) };\n",
        "utf-8",
    )
    return tmp_path


IMPORT = 'import module namespace a = "urn:a"; '


def values(text: str, folder: Path) -> list[object]:
    return list(query(text, module_path=[folder]).run())


def refused(text: str, folder: Path) -> Error:
    with pytest.raises(Error) as caught:
        values(text, folder)
    return caught.value


def test_functions_and_variables_of_modules_that_import_each_other(lib: Path) -> None:
    assert values(IMPORT + "$a:v, a:twice(4), a:seen()", lib) == [42, 8, 1]
    both = IMPORT + 'import module namespace b = "urn:b"; b:around()'
    assert values(both, lib) == [6]


def test_a_module_has_names_of_its_own(lib: Path) -> None:
    text = IMPORT.replace(";", '; declare namespace p = "urn:of-main";')
    assert values(text + "a:name()", lib) == ["urn:of-a"]


def test_what_is_private_is_not_seen(lib: Path) -> None:
    assert refused(IMPORT + "a:hidden()", lib).code == "XPST0017"


def test_an_error_shows_the_line_of_its_module(lib: Path) -> None:
    told = refused(IMPORT + "a:fails()", lib)
    assert told.code == "XPTY0004"
    assert "a.xqm:10:3" in str(told.place)


def test_two_declarations_of_one_name_are_told_with_both_modules(lib: Path) -> None:
    (lib / "c.xqm").write_text(
        'module namespace a = "urn:a"; declare function a:twice($x) { $x };', "utf-8"
    )
    told = refused(IMPORT + "1", lib)
    assert told.code == "XQST0034"
    assert "a:twice#1" in told.message
    assert "known in query too" in told.message


def test_a_place_must_lie_in_a_folder_that_was_given(lib: Path, tmp_path: Path) -> None:
    outside = tmp_path.parent / "outside.xqm"
    outside.write_text('module namespace o = "urn:o"; declare variable $o:x := 1;', "utf-8")
    text = 'import module namespace o = "urn:o" at "../outside.xqm"; $o:x'
    assert refused(text, lib).code == "XQST0059"


def test_a_module_is_loaded_while_a_query_runs(lib: Path) -> None:
    text = """
        let $m := load-xquery-module("urn:a")
        return ($m?functions(QName("urn:a", "twice"))?1(21), $m?variables(QName("urn:a", "v")))"""
    assert values(text, lib) == [42, 42]
    assert refused('load-xquery-module("urn:none")', lib).code == "FOQM0002"


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ('module namespace m = "urn:m"; declare function local:f() { 1 };', "XQST0048"),
        ('module namespace m = "urn:m"; declare context item := 1;', "XQST0113"),
        ('module namespace m = "urn:m"; declare option output:method "xml";', "XQST0108"),
        ('module namespace m = "urn:other";', "XQST0059"),
        ("1 + 1", "XQST0059"),
    ],
)
def test_a_module_that_breaks_a_rule(module: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "m.xqm").write_text(module, "utf-8")
    text = 'import module namespace m = "urn:m" at "m.xqm"; 1'
    assert refused(text, tmp_path).code == code
