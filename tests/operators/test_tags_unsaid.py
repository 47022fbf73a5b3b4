"""Holes and removals that do not say their tag: a query left running reads them as a run does."""

from __future__ import annotations

from tests.operators.watched import Watched


def test_a_removal_that_says_no_tag_says_nothing_of_tags() -> None:
    following = Watched('stream("s")//a?[now]/string()')
    for line in (
        '<structure><tag id="1" name="r"><tag id="2" name="a" type="temporal">'
        '<tag id="4" name="b" type="temporal"/></tag></tag></structure>',
        '<remove id="1" tsid="2" validTime="2020-01-18"/>',
        '<remove id="2" validTime="2020-01-09" in="1"/>',
        '<remove id="1" validTime="2020-01-19"/>',
        '<filler id="0" tsid="1" validTime="2020-01-01"><r><hole id="1" tsid="2"/></r></filler>',
        '<filler id="1" tsid="2" validTime="2020-01-20"><a>x</a></filler>',
    ):
        following.feed("s", line.encode())
    assert following.told.items() == ["x"]


def test_a_hole_that_says_no_tag_may_be_filled_by_any() -> None:
    following = Watched('stream("s")//b?[now]/string()')
    for line in (
        '<structure><tag id="1" name="r"><tag id="2" name="a" type="temporal">'
        '<tag id="4" name="b" type="temporal"/></tag></tag></structure>',
        '<filler id="0" tsid="1" validTime="2020-01-01"><r><hole id="1"/><hole id="2"/></r>'
        "</filler>",
        '<filler id="1" tsid="2" validTime="2020-01-02"><a><hole id="3"/></a></filler>',
        '<filler id="2" tsid="4" validTime="2020-01-03"><b>in the root</b></filler>',
        '<filler id="3" tsid="4" validTime="2020-01-04"><b>in a</b></filler>',
    ):
        following.feed("s", line.encode())
    assert following.told.items() == ["in a", "in the root"]
    following.feed("s", b'<remove id="3" validTime="2020-01-05"/>')
    assert following.told.items() == ["in the root"]


def test_a_removal_of_a_tag_that_should_be_embedded_is_no_internal_error() -> None:
    following = Watched('stream("s")//a?[now]/string()')
    for line in (
        '<structure><tag id="1" name="r"><tag id="2" name="a" type="temporal">'
        '<tag id="4" name="b"/></tag></tag></structure>',
        '<filler id="0" tsid="1" validTime="2020-01-01"><r><hole id="1" tsid="2"/></r></filler>',
        '<filler id="1" tsid="2" validTime="2020-01-13"><a>x<hole id="5" tsid="2"/></a></filler>',
        '<remove id="5" tsid="4" validTime="2020-01-26"/>',
    ):
        following.feed("s", line.encode())
    assert following.told.items() == ["x"]
