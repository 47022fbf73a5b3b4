"""Regular expressions mean what XPath says they mean."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.functions.both import ours, theirs
from xstreamcast.errors import Error
from xstreamcast.functions.regex import characters as ch
from xstreamcast.functions.regex import cutting_regex, regex
from xstreamcast.functions.regex.blocks import blocks

PIECES = [
    *("a", "b", "A", "k", "é", "ß", "-", "1", " ", ","),
    *(r"\d", r"\w", r"\s", r"\i", r"\c", r"\p{L}", r"\P{Nd}", r"\p{IsBasicLatin}", r"\p{Xy}", "."),
    *("[a-c]", "[^b]", "[a-z-[b]]", r"[\w-[a]]", "[-a]", "[a-]", "[a--]", "[0-9-.]", r"[^\s,]"),
    *(
        "(a|b)",
        "(a)(b)",
        "(?:ab|a)",
        "(.)",
        "()",
        "(",
        ")",
        "[",
        "]",
        "{",
        "|",
        r"\9",
    ),
]
TIMES = [
    "",
    "",
    "",
    "*",
    "+",
    "?",
    "{2}",
    "{1,2}",
    "{1,}",
    "*?",
    "+?",
    "??",
    "{1,2}?",
    "{2,1}",
    "**",
]
TEXTS = [
    "",
    "a",
    "ab",
    "aab",
    "abc",
    "AB",
    "a-b",
    "Kk",
    "1",
    "a1 b2",
    "a\nb",
    "a\n",
    "\n",
    "é",
    "ß",
    "aa1,",
]


@st.composite
def patterns(draw: st.DrawFn) -> str:
    r"""Anchors stand at the ends and () alone: SaxonC errs about a*^, ^*?, (a*)* and (.){1,2}\1."""
    pieces = draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4))
    times = [draw(st.sampled_from(TIMES)) for _ in pieces]
    middle = "".join(p + ("" if p == "()" else t) for p, t in zip(pieces, times, strict=True))
    return draw(st.sampled_from(["", "", "^"])) + middle + draw(st.sampled_from(["", "", "$"]))


cases = st.tuples(
    st.sampled_from(TEXTS), patterns(), st.sampled_from(["", "", "i", "m", "s", "x", "q"])
)


def quoted(text: str) -> str:
    return '"' + text.replace("&", "&amp;").replace('"', '""') + '"'


@given(st.lists(cases, min_size=1, max_size=40))
def test_matches_and_tokenize_agree_with_saxon(rows: list[tuple[str, str, str]]) -> None:
    # SaxonC does not look at the pattern where there is nothing to cut.
    calls = [f"matches({', '.join(map(quoted, row))})" for row in rows]
    calls += [f"tokenize({', '.join(map(quoted, row))})" for row in rows if row[0]]
    for call, expected in zip(calls, theirs(calls), strict=True):
        assert ours(call) == expected, call


def test_categories_are_those_of_the_character_database() -> None:
    found: dict[str, list[tuple[int, int]]] = {}
    at = 0
    for name, run in groupby(map(unicodedata.category, map(chr, range(ch.LAST)))):
        end = at + sum(1 for _ in run)
        found.setdefault(name, []).append((at, end))
        at = end
    assert {name: ch.category(name) for name in found} == {k: tuple(v) for k, v in found.items()}


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(1, 9))), st.lists(st.integers(0, 220)))
def test_sets_of_characters_are_sets(spans: list[tuple[int, int]], points: list[int]) -> None:
    held = ch.union([(start, start + length) for start, length in spans])
    members = {code for start, length in spans for code in range(start, start + length)}
    for ranges, inside in ((held, members), (ch.complement(held), set(range(400)) - members)):
        atom = re.compile(ch.written(ranges))
        assert {code for code in points if atom.fullmatch(chr(code))} == inside & set(points)


def test_case_variants_share_an_upper_or_a_lower_form() -> None:
    for char in "aAkKsSßéÉσςΣıİµ\u212a":
        variants = {code for pair in ch.with_variants(ch.single(char)) for code in range(*pair)}
        expected = {
            code
            for code in range(0x1F000)
            if chr(code).lower() == char.lower() or chr(code).upper() == char.upper()
        }
        assert variants == expected, char


def test_i_leaves_categories_alone_and_widens_ranges() -> None:
    assert not regex(r"\p{Lu}", "i").compiled.search("a")
    assert regex("[A-Z-[IO]]", "i").compiled.search("a")
    assert not regex("[A-Z-[IO]]", "i").compiled.search("i")
    # İ in small letters is two characters, so it is no variant of i.
    assert not regex("i", "i").compiled.search("İ")


def test_a_group_that_matched_nothing_stands_for_the_empty_string() -> None:
    assert regex(r"(a)?\1b").compiled.search("b")


@pytest.mark.parametrize(
    ("pattern", "flags", "code"),
    [
        ("a", "k", "FORX0001"),
        (r"\p{Is Basic Latin}", "", "FORX0002"),
        ("a{99999999999999}", "", "FORX0002"),
        ("(a", "", "FORX0002"),
        (r"\1(a)", "", "FORX0002"),
        ("a?", "", "FORX0003"),
        ("", "", "FORX0003"),
    ],
)
def test_what_is_no_expression_says_so(pattern: str, flags: str, code: str) -> None:
    with pytest.raises(Error) as caught:
        cutting_regex(pattern, flags)
    assert caught.value.code == code


def test_an_expression_is_compiled_once() -> None:
    assert regex("a+", "i") is regex("a+", "i")


def test_groups_of_an_earlier_round_are_left_out() -> None:
    found = ours('analyze-string("ab", "((a)|(b))+")//*:group/@nr/string()')
    assert found == [["string", "1"], ["string", "3"]]


# -- blocks ----------------------------------------------------------------------------------------

SYSTEM_BLOCKS = next(Path("/usr/share/perl").glob("*/unicore/Blocks.txt"), None)
GROWN = {"EgyptianHieroglyphFormatControls"}  # in Unicode 15


@pytest.mark.skipif(SYSTEM_BLOCKS is None, reason="Perl's Unicode data is not installed")
def test_blocks_are_those_of_the_systems_unicode_data():
    assert SYSTEM_BLOCKS is not None
    rows = re.findall(r"(?m)^([0-9A-F]+)\.\.([0-9A-F]+); (.*)$", SYSTEM_BLOCKS.read_text())
    assert len(rows) > 300
    known = {name.replace(" ", ""): [(int(a, 16), int(b, 16) + 1)] for a, b, name in rows}
    assert {n: r for n, r in known.items() if n not in GROWN and blocks().get(n) != r} == {}


def test_blocks_by_name():
    assert ch.block("BasicLatin") == ((0, 0x80),)
    assert ch.block("Greek") == ch.block("GreekandCoptic") == ((0x370, 0x400),)
    assert ch.block("PrivateUse") == ((0xE000, 0xF900), (0xF0000, 0xFFFFE), (0x100000, 0x10FFFE))
    assert ch.block("Nowhere") is None
    none = ch.block("NoBlock")
    assert none is not None
    assert (0x2FE0, 0x2FF0) in none
    assert none == ch.complement(ch.union(*blocks().values()))
