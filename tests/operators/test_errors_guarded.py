"""Errors that a query catches, or does not come to: watched as when asked once."""

from __future__ import annotations

import pytest

from xstreamcast import query
from xstreamcast.model.change import Accumulated

DOCUMENT = b"<d><t>1</t><t>x</t><t>3</t></d>"


@pytest.mark.parametrize(
    "asked",
    [
        "try { for $t in //t return xs:integer($t) } catch * { 'odd' }",
        "try { sum(//t) } catch * { 'odd' }",
        "if (exists(//never)) then for $t in //t return xs:integer($t) else 'fine'",
        "if (exists(//t)) then count(//t) else sum(//t)",
        "switch (count(//t)) case 3 return 'three' default return sum(//t)",
        "for $t in //t return try { xs:integer($t) } catch * { 0 }",
        "if (exists(//t)) then //t else ()",
    ],
)
def test_watched_as_when_asked_once(asked):
    told = Accumulated(query(asked).watch(DOCUMENT))
    assert told.items() == list(query(asked).run(DOCUMENT).lines())
