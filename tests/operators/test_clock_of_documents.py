"""Documents have no times of their own: now is what the clock on the wall says."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

import xstreamcast as xsc
from xstreamcast.model.change import Accumulated


def arriving() -> Iterator[bytes]:
    yield b"<r><a>1</a><a>2</a>"
    yield b"<a>3</a></r>"


PAST = 'xs:dateTime("2020-01-01T00:00:00Z")'


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"current-dateTime() > {PAST}", ["true"]),
        (f'for $a in doc("d")//a where current-dateTime() > {PAST} return string($a)', list("123")),
        (f'for $a in doc("d")//a where now > {PAST} return string($a)', list("123")),
        (f'count(doc("d")//a[now > {PAST}])', ["3"]),
        (f'declare variable $t := now > {PAST}; for $a in doc("d")//a[$t] return string($a)',
         list("123")),
        (f'declare function local:t() {{ now > {PAST} }};'
         f'for $a in doc("d")//a[local:t()] return string($a)', list("123")),
        ('for $a in doc("d")//a where year-from-date(current-date()) > 2020 return string($a)',
         list("123")),
    ],
)  # fmt: skip
def test_now_over_a_document_is_the_time_on_the_wall(query: str, expected: list[str]) -> None:
    told = Accumulated()
    for change in xsc.query(query).watch(d=arriving()):
        told.apply(change)
    assert told.items() == expected


def test_a_query_that_reads_nothing_knows_the_time() -> None:
    (change,) = list(xsc.query("year-from-dateTime(now + PT0S)").watch())
    assert int(change.item) >= time.gmtime().tm_year


def test_a_query_that_does_not_ask_counts_units() -> None:
    changes = list(xsc.query('for $a in doc("d")//a return string($a)').watch(d=arriving()))
    assert all(change.instant <= 3_000_000 for change in changes)
