import io
from functools import cache

import pytest
from lxml import etree

from bench.auction import REGIONS, Counts
from bench.generate import write


@cache
def site(factor=0.02):
    sink = io.BytesIO()
    write("auction", factor, 1, sink)
    return etree.fromstring(sink.getvalue())


def ids(path):
    return set(site().xpath(path))


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("//personref/@person | //seller/@person | //buyer/@person | //author/@person", "//person"),
        ("//itemref/@item", "//item"),
        ("//incategory/@category | //interest/@category | //edge/@from | //edge/@to", "//category"),
        ("//watch/@open_auction", "//open_auction"),
    ],
)
def test_references_lead_to_something(reference, target):
    assert ids(reference)
    assert ids(reference) <= ids(f"{target}/@id")


def test_every_item_is_in_exactly_one_auction():
    sold = site().xpath("//itemref/@item")

    assert sorted(sold) == sorted(site().xpath("//item/@id"))


def test_published_counts_are_kept_in_proportion():
    counts = Counts.of(1)

    assert counts.regions == REGIONS
    assert (counts.persons, counts.open, counts.closed) == (25_500, 12_000, 9_750)
    assert (counts.items, counts.categories) == (21_750, 1_000)
    assert [len(region) for region in site().find("regions")] == [11, 40, 44, 120, 200, 20]
    assert len(site().find("people")) == 510


def test_a_current_price_is_the_initial_one_and_all_increases():
    def cents(text):
        return round(float(text) * 100)

    for auction in site().iter("open_auction"):
        raised = sum(cents(step.text) for step in auction.iterfind("bidder/increase"))
        assert cents(auction.findtext("current")) == cents(auction.findtext("initial")) + raised


@pytest.mark.parametrize(
    ("part", "whole", "least", "most"),
    [
        ("//item[location='Albania']", "//item", 0.002, 0.02),
        ("//item[location='United States']", "//item", 0.7, 0.8),
        ("//item[contains(description, 'gold')]", "//item", 0.02, 0.2),
        ("//description[parlist]", "//description", 0.22, 0.34),
        ("//person[not(homepage)]", "//person", 0.45, 0.55),
        ("//emph/keyword", "//text", 0.01, 0.2),
    ],
)
def test_what_the_published_queries_select_is_neither_nothing_nor_all(part, whole, least, most):
    share = len(site().xpath(part)) / len(site().xpath(whole))

    assert least < share < most


def test_elements_stand_in_the_order_of_the_schema():
    children = [child.tag for child in site().find(".//item")]

    assert list(dict.fromkeys(children)) == [
        "location", "quantity", "name", "payment", "description", "shipping", "incategory",
        "mailbox",
    ]  # fmt: skip
