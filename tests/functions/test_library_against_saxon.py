"""Every expression of library.txt gives what SaxonC-HE gives: items with types, or the code."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.functions.both import Shown, ours, theirs

DOCUMENT = (
    '<r xmlns:p="u:p" xml:lang="en" p:k="1"><b xml:id="i1" xml:lang="de-AT">x<c/></b>'
    '<!--c--><b xml:id="i2">y<?t d?></b><p:b/></r>'
)
EXPRESSIONS = [
    line
    for line in (Path(__file__).parent / "library.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


@cache
def expected() -> dict[str, Shown]:
    """What SaxonC-HE gives for all of them."""
    return dict(zip(EXPRESSIONS, _asked(EXPRESSIONS), strict=True))


def _asked(expressions: list[str]) -> list[Shown]:
    """WatchRequest together; where one does not compile, in halves down to that one."""
    try:
        return theirs(expressions, DOCUMENT)
    except Exception as wrong:
        if len(expressions) > 1:
            middle = len(expressions) // 2
            return _asked(expressions[:middle]) + _asked(expressions[middle:])
        return [f"!{re.findall(r'[A-Z]{4}[0-9]{4}', str(wrong))[0]}"]


def forgiving(shown: Shown) -> Shown:
    """SaxonC calls a whole xs:decimal an xs:integer."""
    if isinstance(shown, str):
        return shown
    return [["integer" if k == "decimal" and "." not in v else k, v] for k, v in shown]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_library_agrees_with_saxon(expression: str) -> None:
    assert forgiving(ours(expression, DOCUMENT)) == forgiving(expected()[expression])
