"""XCQL over small streams: projections, lifespans, instants, intervals."""

from __future__ import annotations

import pytest

import xstreamcast as xsc
from tests.history.telling import CREDIT, filler, hole, shortened, told

STREAM = CREDIT + "".join(
    [
        filler(0, 1, "1", f"<accounts>{hole(1, 2)}</accounts>"),
        filler(
            1, 2, "2", f'<account n="1"><customer>Jo</customer>{hole(2, 4)}x{hole(3, 5)}</account>'
        ),
        filler(1, 2, "8", f'<account n="2">{hole(2, 4)}{hole(3, 5)}</account>'),
        filler(2, 4, "2", "<limit>10</limit>"),
        filler(2, 4, "5", "<limit>20</limit>"),
        filler(2, 4, "8", "<limit>30</limit>"),
        filler(3, 5, "4", f"<charge><amount>7</amount>{hole(4, 6)}</charge>"),
        filler(3, 5, "9", "<charge><amount>8</amount></charge>"),
        filler(4, 6, "4", "<status>asked</status>"),
        filler(4, 6, "9", "<status>paid</status>"),
    ]
)  # now is the ninth


def asked(query: str, **options: object) -> list[str]:
    answer = xsc.query(query).run(credit=STREAM.encode(), **options)  # type: ignore[arg-type]
    return [shortened(line) for line in answer.lines()]


CASES = {
    # e?[t]: clipped, of the whole subtree; an end of now stays symbolic
    'stream("credit")//limit?[now]': ['<limit vtFrom="8" vtTo="now">30</limit>'],
    'stream("credit")//limit?[2003-01-05]': ['<limit vtFrom="5" vtTo="5">20</limit>'],
    'stream("credit")//limit?[2003-01-03,2003-01-04]': ['<limit vtFrom="3" vtTo="4">10</limit>'],
    'stream("credit")//account?[2003-01-04]': [
        '<account n="1" vtFrom="4" vtTo="4"><customer>Jo</customer><limit vtFrom="4" vtTo="4">10'
        '</limit>x<charge vtFrom="4" vtTo="4"><amount>7</amount><status vtFrom="4" vtTo="4">asked'
        "</status></charge></account>"
    ],
    'count(stream("credit")//charge?[2003-01-04,2003-01-09])': ["2"],
    'stream("credit")//charge?[2003-01-05,2003-01-08]': [],
    'stream("credit")//limit?[2003-01-06,2003-01-03]': [],
    'stream("credit")//limit?[vtFrom(())]': [],
    'stream("credit")//limit?[start,2003-01-02]': ['<limit vtFrom="2" vtTo="2">10</limit>'],
    'count(stream("credit")//limit?[start,now])': ["3"],
    'stream("credit")//account?[now]/parent::*': [],
    # texts join where what stood between them is gone
    'count(stream("credit")//account[1]?[2003-01-03]/text())': ["1"],
    # a document stays one
    'stream("credit")?[2003-01-05]/accounts/account/limit/string()': ["20"],
    # e#[n]: positions of the whole value; slices by the version's own lifespan
    'stream("credit")//limit#[2]': ['<limit vtFrom="5" vtTo="8">20</limit>'],
    'stream("credit")//limit#[last]/string()': ["30"],
    'stream("credit")//limit#[2,last]/string()': ["20", "30"],
    'stream("credit")//limit#[last - 1]/string()': ["20"],
    'stream("credit")//limit#[7]': [],
    'stream("credit")//charge#[1]/status/string()': ["asked", "paid"],
    'for $a in stream("credit")//account return $a/limit#[last]/string()': ["20", "30"],
    'stream("credit")//amount#[1]': ["<amount>7</amount>"],
    # lifespans: own, derived, of leaves, of what is made
    'vtFrom(stream("credit")//limit[2])': ["5"],
    'vtTo((stream("credit")//limit)[1])': ["5"],
    'vtTo((stream("credit")//limit)[3])': ["9"],
    'vtFrom(stream("credit")/accounts) = vtFrom(stream("credit")//account[1])': ["true"],
    'vtFrom(stream("credit")//customer) = start': ["true"],
    'vtTo(stream("credit")//customer) = now': ["true"],
    'vtFrom(<a>{stream("credit")//limit[2]}</a>)': ["5"],
    'vtTo(<a>{(stream("credit")//limit)[position() < 3]}</a>)': ["8"],
    "vtFrom(())": [],
    'stream("credit")//limit[2]/@vtFrom/string()': ["5"],
    # any version, the current version
    'exists(stream("credit")//charge[status = "asked"])': ["true"],
    'exists(stream("credit")//charge[status?[now] = "asked"])': ["false"],
    # instants
    'stream("credit")/*/(now - PT24H)': ["8"],
    # intervals
    'stream("credit")//limit[. before [2003-01-06,now]]/string()': ["10"],
    'stream("credit")//limit[. after [2003-01-01,2003-01-04]]/string()': ["20", "30"],
    'stream("credit")//limit[. meets [2003-01-05,now]]/string()': ["10"],
    'stream("credit")//limit[. during [2003-01-03,now]]/string()': ["20"],
    'stream("credit")//limit[. contains [2003-01-06]]/string()': ["20"],
    'stream("credit")//limit[. starts [2003-01-02,now]]/string()': ["10"],
    'stream("credit")//limit[. finishes [2003-01-02,now]]/string()': ["30"],
    'stream("credit")//limit[. overlaps [2003-01-04,now]]/string()': ["10"],
    'stream("credit")//limit[. equals [2003-01-05,2003-01-08]]/string()': ["20"],
    "() before [now]": ["false"],
    # what is no node lives always
    "(1, 2)?[now]": ["1", "2"],
    "(1, 2, 3)#[2]": ["2"],
}


@pytest.mark.parametrize("query", CASES)
@pytest.mark.parametrize("strategy", ["caq", "qac+"])
def test_a_query_over_time(query: str, strategy: str) -> None:
    assert asked(query, strategy=strategy) == CASES[query]


def test_now_is_the_largest_valid_time_of_all_streams() -> None:
    query = 'stream("credit")//limit?[now - P0D, now]/@vtFrom/string(), stream("other")/*/name()'
    other = CREDIT + filler(0, 1, "20", "<accounts/>")
    found = xsc.query(query).run(credit=STREAM.encode(), other=other.encode())
    assert [shortened(line) for line in found.lines()] == ["20", "accounts"]


def test_as_of_and_between() -> None:
    query = 'stream("credit")//limit'
    assert asked(query, as_of="2003-01-04") == ['<limit vtFrom="2" vtTo="now">10</limit>']
    assert asked(query, between=("2003-01-04", "2003-01-06")) == [
        '<limit vtFrom="4" vtTo="5">10</limit>',
        '<limit vtFrom="5" vtTo="now">20</limit>',
    ]


def test_a_stream_without_a_name_is_the_context_item() -> None:
    found = xsc.query("//limit[2]/string()").run(STREAM.encode(), as_of="2003-01-06")
    assert list(found.lines()) == ["20"]


def test_a_history_may_be_asked_again_and_stays_as_it_is() -> None:
    history = told([], STREAM)
    held = repr(history.store)
    for _ in range(2):
        answer = xsc.query('stream("credit")//limit#[last]').run(credit=history)
        assert len(answer) == 1
    assert repr(history.store) == held


def test_a_document_has_the_lifespans_that_its_attributes_say() -> None:
    first, second = 'vtFrom="2003-01-01" vtTo="2003-01-05"', 'vtFrom="2003-01-05" vtTo="now"'
    document = f"<r><a {first}>1</a><a {second}>2</a></r>".encode()
    found = xsc.query('stream("d")//a?[2003-01-02]').run(d=document)
    assert [shortened(line) for line in found.lines()] == ['<a vtFrom="2" vtTo="2">1</a>']


def test_copies_keep_namespaces_comments_and_mixed_content() -> None:
    document = (
        b'<r xmlns:p="urn:p"><p:a p:x="1">t<!--c--><b vtFrom="2003-01-01" vtTo="2003-01-02"/>u'
        b"<?pi d?></p:a></r>"
    )
    found = xsc.query('stream("d")/r/*?[2003-01-05]').run(d=document)
    assert list(found.lines()) == ['<p:a xmlns:p="urn:p" p:x="1">t<!--c-->u<?pi d?></p:a>']


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ('stream("d")/r?["soon"]', "FORG0001"),
        ('stream("d")/r?[1]', "XPTY0004"),
        ('stream("d")/r?[(now, now)]', "XPTY0004"),
        ('stream("d")/r#["x"]', "FORG0001"),
        ('vtFrom(stream("d")/r)', "FORG0001"),
    ],
)
def test_what_is_no_instant_is_an_error(query: str, code: str) -> None:
    with pytest.raises(xsc.Error) as caught:
        xsc.query(query).run(d=b'<r vtFrom="then" vtTo="now"/>' if "vtFrom" in query else b"<r/>")
    assert caught.value.code == code
