"""Names in two forms agree; references are those of the standard library."""

from __future__ import annotations

import re
from xml.sax import saxutils

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xstreamcast.model import xml_names
from xstreamcast.model.markup import escape, quoteattr
from xstreamcast.model.xml_names import NamePattern

PATTERNS = {
    name: value for name, value in vars(xml_names).items() if isinstance(value, NamePattern)
}
LETTERS = "aZ_-.:09·é\u0300\u200c\U00010000 \t\0\x7f\x80ÿ×€/"


@pytest.mark.parametrize("name", PATTERNS)
@given(text=st.text(LETTERS, max_size=6), start=st.integers(0, 6))
def test_the_small_pattern_finds_what_the_whole_one_does(name: str, text: str, start: int) -> None:
    pattern, whole = PATTERNS[name], PATTERNS[name]._whole
    assert groups(pattern.match(text, start)) == groups(whole.match(text, start))
    assert groups(pattern.fullmatch(text)) == groups(whole.fullmatch(text))
    assert groups(pattern.search(text)) == groups(whole.search(text))


def groups(found: re.Match[str] | None) -> tuple[object, ...] | None:
    return None if found is None else (found.span(), found.group(), found.groups())


@given(st.text("a&<>\"'\n\r\t é", max_size=8))
def test_references_are_those_of_the_standard_library(text: str) -> None:
    assert escape(text) == saxutils.escape(text)
    assert escape(text, {"\r": "&#13;"}) == saxutils.escape(text, {"\r": "&#13;"})
    assert quoteattr(text) == saxutils.quoteattr(text)
    assert quoteattr(text, {"é": "&#233;"}) == saxutils.quoteattr(text, {"é": "&#233;"})
