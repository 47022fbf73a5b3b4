"""Update streams: what the paper's examples mean, and that both ways of applying them agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.edges.update_streams import any_event, events, shown, update_streams
from xstreamcast.edges.updates import Regions, apply
from xstreamcast.edges.updates import events as e
from xstreamcast.edges.updates.reference import Reference
from xstreamcast.errors import Error

EXAMPLES = {
    "section III: replaced, extended on both sides, an id used again": (
        'sM(0,1) cD(1,"x") eM(0,1) sR(1,2) cD(2,"y") eR(1,2)'
        ' sA(2,3) cD(3,"z") eA(2,3) sB(1,3) cD(3,"w") eB(1,3)',
        "wyz",
    ),
    "section III: a counter that is revised": (
        'sS(0) sM(0,1) cD(1,"0") eM(0,1) sR(1,2) cD(2,"1") eR(1,2) sR(1,2) cD(2,"2") eR(1,2)',
        "2",
    ),
    "section VI-A: the left stream moves before the right one": (
        'sT(2) sM(2,1) sB(1,0) cD(0,"x") cD(1,"y") cD(0,"z") cD(1,"w") eB(1,0) eM(2,1) eT(2)',
        "(xzyw)",
    ),
    "section VI-B: a predicate that turned out false, then true": (
        'sM(0,1) sE(1,"b") eE(1,"b") eM(0,1) hide(1)'
        ' sM(0,2) sE(2,"c") eE(2,"c") eM(0,2) hide(2) show(2)',
        "<c></c>",
    ),
    "section VI-C: every element before the one around it": (
        'sM(0,1) sE(1,"b") sE(1,"c") sB(1,2) sE(2,"c") cD(1,"x") cD(2,"x") eE(2,"c") eB(1,2)'
        ' eE(1,"c") eE(1,"b") eM(0,1)',
        "<c>x</c><b><c>x</c></b>",
    ),
    "section VI-D: sorting, each element behind the greatest key that is smaller": (
        'sS(0) sM(0,1) eM(0,1) sA(1,2) cD(2,"5") eA(1,2) sA(1,3) cD(3,"3") eA(1,3)'
        ' sA(3,4) cD(4,"4") eA(3,4)',
        "345",
    ),
    "a replacement of what is hidden stays hidden": (
        'sM(0,1) cD(1,"x") eM(0,1) hide(1) sR(1,2) cD(2,"y") eR(1,2)',
        "",
    ),
    "and comes with it": (
        'sM(0,1) cD(1,"x") eM(0,1) hide(1) sR(1,2) cD(2,"y") eR(1,2) show(1)',
        "y",
    ),
    "a replacement under the region's own id keeps the place": (
        'sM(0,1) cD(1,"x") eM(0,1) sR(1,1) cD(1,"y") eR(1,1) sR(1,1) cD(1,"z") eR(1,1)',
        "z",
    ),
    "a region of an element that has ended goes on within it": (
        'sE(0,"a") sM(0,1) eE(0,"a") cD(1,"x") eM(0,1)',
        "<a>x</a>",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_means_what_it_says(name: str) -> None:
    stream, result = EXAMPLES[name]
    assert shown(apply(events(stream))) == result


@pytest.mark.parametrize(
    ("stream", "code"),
    [
        ("sR(7,8)", "XSCE0002"),
        ('cD(7,"x")', "XSCE0002"),
        ("hide(0)", "XSCE0002"),
        ('eE(0,"a")', "XSCE0003"),
        ('sE(0,"a") eE(0,"b")', "XSCE0003"),
        ("sM(0,1) eR(0,1)", "XSCE0003"),
        ('sM(0,1) sE(1,"a") eM(0,1)', "XSCE0003"),
        ('sE(0,"a") eS(0)', "XSCE0003"),
        ("eM(0,1)", "XSCE0002"),
        ("sM(0,1) eM(0,1) freeze(1) sR(1,2)", "XSCE0004"),
        ("sM(0,1) eM(0,1) freeze(1) hide(1)", "XSCE0004"),
        ("sM(0,1) sR(1,2)", "XSCE0005"),
        ("sM(0,1) sA(1,2)", "XSCE0005"),
        ('sM(0,1) eM(0,1) cD(1,"x")', "XSCE0005"),
        ("sM(0,1) sM(0,1)", "XSCE0005"),
        ('sS(0) eS(0) cD(0,"x")', "XSCE0005"),
        ("sM(0,1) eM(0,1) sR(1,2) eR(1,2) sR(1,3) eR(1,3) sR(2,4)", "XSCE0002"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(stream: str, code: str) -> None:
    *fine, wrong = events(stream)
    reference, regions = Reference(), Regions()
    for event in fine:
        reference.take(event)
        regions.take(event)
    before = reference.current()
    for taker in (reference, regions):
        with pytest.raises(Error) as refused:
            taker.take(wrong)
        assert refused.value.code == code
        assert taker.current() == before
    assert (regions.counts.refused, regions.counts.events) == (1, len(fine) + 1)


def code_of(taker: Reference | Regions, event: e.Event) -> str:
    try:
        taker.take(event)
    except Error as refused:
        return refused.code
    return "taken"


@given(st.lists(any_event, max_size=60))
def test_any_events_at_all_are_taken_or_refused_as_the_reference_does(stream) -> None:
    reference, regions = Reference(), Regions()
    for event in stream:
        assert code_of(regions, event) == code_of(reference, event)
        assert regions.current() == reference.current()


@given(update_streams())
def test_after_every_event_the_content_is_that_of_the_reference(stream) -> None:
    reference, regions = Reference(), Regions()
    for event in stream:
        assert code_of(regions, event) == code_of(reference, event)
        assert regions.current() == reference.current()


def test_a_region_that_is_replaced_for_ever_does_not_grow() -> None:
    regions = Regions()
    for event in events('sM(0,1) cD(1,"x") eM(0,1)'):
        regions.take(event)
    for _ in range(2000):
        for event in events('sR(1,2) cD(2,"y") eR(1,2) sR(2,1) cD(1,"z") eR(2,1)'):
            regions.take(event)
    assert shown(regions.current()) == "z"
    assert len(regions) == 3
    depth, place = 0, regions.top.first
    while place is not None and place.first is not None:
        depth, place = depth + 1, place.first
    assert depth < 5


def test_replacements_of_replacements_may_be_nested_deeply() -> None:
    regions = Regions()
    for event in events('sM(0,1) cD(1,"x") eM(0,1)'):
        regions.take(event)
    for n in range(1, 5000):
        for event in events(f'sR({n},{n + 1}) cD({n + 1},"{n}") eR({n},{n + 1})'):
            regions.take(event)
    assert shown(regions.current()) == "4999"
