from functools import cache

import pytest

import bench
from bench.paths import LXML, OURS, SAXON, Measured, table
from bench.peers import lxml, normalised, saxon, xpath
from bench.queries import JOINS, Query, nine, xmark
from bench.rounds import Timing

ALL = (*nine(), *xmark())
each_query = pytest.mark.parametrize("query", ALL, ids=lambda query: query.name)


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XSC_BENCH_DATA", str(tmp_path_factory.mktemp("data")))
        yield {kind: bench.data(kind, 0.01) for kind in ("auction", "bibliography")}


the_saxon, the_lxml = cache(saxon), cache(lxml)


def test_there_are_nine_paths_and_twenty_queries_of_xmark():
    assert [query.name for query in nine()] == [f"p{n}" for n in range(1, 10)]
    assert [query.name for query in xmark()] == [f"q{n:02d}" for n in range(1, 21)]
    assert {query.name for query in xmark()} > set(JOINS)


@each_query
def test_every_query_has_an_answer_on_a_small_document(query, documents):
    answer = normalised(the_saxon()(query, documents[query.kind]))

    assert answer not in ("<answer></answer>", "<answer>0</answer>")


@pytest.mark.parametrize("query", [q for q in ALL if xpath(q)], ids=lambda query: query.name)
def test_xpath_says_the_same_as_the_query_where_it_can(query, documents):
    path = documents[query.kind]

    assert normalised(the_lxml()(query, path)) == normalised(the_saxon()(query, path))


def test_answers_are_equal_however_items_are_parted():
    assert normalised('<?xml version="1.0"?><a x="1"></a> 2') == normalised("<a x='1'/>\n2\n")
    assert normalised("<a/><b/>") != normalised("<b/><a/>")


def measured(**answers: tuple[float, str]) -> Measured:
    names = {"ours": OURS, "saxon": SAXON, "lxml": LXML}
    timings = {names[n]: Timing(names[n], (took,), a) for n, (took, a) in answers.items()}
    return Measured(Query("p1", "1", "auction"), 100_000_000, timings)


def test_a_wrong_answer_is_found():
    one = measured(ours=(1.0, "<a/>"), saxon=(10.0, "<b/>"), lxml=(2.0, "<b></b>"))

    assert one.checked() == {OURS: False, LXML: True}


def test_a_table_shows_medians_our_rate_ratios_and_their_geometric_mean():
    rows = [measured(ours=(0.5, ""), saxon=(2.0, "")), measured(ours=(0.5, ""), saxon=(80.0, ""))]

    assert table(rows, (OURS, SAXON)) == (
        "| query          | ours s | SaxonC-HE s | ours MB/s | × SaxonC-HE |\n"
        "| -------------- | -----: | ----------: | --------: | ----------: |\n"
        "| p1             |  0.500 |        2.00 |       200 |       4.0 × |\n"
        "| p1             |  0.500 |       80.0¹ |       200 |       160 × |\n"
        "| geometric mean |  0.500 |        12.6 |           |        25 × |\n"
        "\n¹ slower than 60 s, run once.\n"
    )
