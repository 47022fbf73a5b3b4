"""Tag structures: read in every dialect, written in one, sent again."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given

from tests.edges.documents import structures
from xstreamcast.edges.structures import read_structure, write_structure
from xstreamcast.errors import Error, InputError
from xstreamcast.model.evolution import merged
from xstreamcast.model.structure import Tag, TagStructure


@given(structures())
def test_reading_gives_what_was_written(structure: TagStructure) -> None:
    assert read_structure(write_structure(structure)) == structure
    assert read_structure(write_structure(structure, indent=None)) == structure


def test_a_tag_may_contain_itself_by_reference_or_written_out() -> None:
    by_ref = b'<tag id="1" name="a"><tag id="2" name="b"><tag ref="2"/></tag></tag>'
    written = b'<tag id="1" name="a"><tag id="2" name="b"><tag id="2" name="b"/></tag></tag>'
    assert read_structure(by_ref) == read_structure(written)
    assert read_structure(by_ref)[2].children == (2,)


def test_names_may_have_a_prefix_a_uri_or_braces() -> None:
    prefixed = b'<structure xmlns:p="u"><tag id="1" name="p:a"/></structure>'
    for same in (prefixed, b'<tag id="1" name="a" uri="u"/>', b'<tag id="1" name="{u}a"/>'):
        assert read_structure(same)[1].name == "{u}a"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("<structure/>", "one root tag; got 0"),
        ('<structure><tag id="1" name="a"/><tag id="2" name="b"/></structure>', "got 2"),
        ('<tag id="x" name="a"/>', "id must be a number below 2147483648; got x"),
        ('<tag name="a"/>', "id must be a number below 2147483648; got none"),
        ('<tag id="1"/>', "name must be an element name; got none"),
        ('<tag id="1" name="a b"/>', "name must be an element name; got a b"),
        ('<tag id="1" name="p:a"/>', "prefix of a name must be declared; got p:a"),
        ('<tag id="1" name="a" type="other"/>', "type must be one of snapshot"),
        ('<tag id="1" name="a" filler="perhaps"/>', "filler must be true or false; got perhaps"),
        ('<tag id="1" name="a"><tag id="1" name="b"><tag id="3" name="c"/></tag></tag>', "twice"),
        ('<tag id="1" name="a"><tag ref="9"/></tag>', "ref must be the id of a tag; got 9"),
        ('<tag id="1" name="a"><tag id="2" name="b"/><tag id="3" name="b"/></tag>', "got two"),
        ('<tag id="1" name="a"><other/></tag>', "made of tag elements; got other"),
    ],
)
def test_what_is_no_structure_says_why(written: str, said: str) -> None:
    with pytest.raises(Error) as caught:
        read_structure(written.encode())
    assert caught.value.code == "XSCT0001"
    assert said in caught.value.message


OLD = read_structure(
    b'<tag id="1" name="r" type="snapshot"><tag id="2" name="a" type="temporal"/></tag>'
)


def test_the_same_structure_is_a_repetition() -> None:
    assert merged(OLD, read_structure(write_structure(OLD))) is OLD


@given(structures(), structures())
def test_evolution_keeps_what_was_said_or_is_refused(a: TagStructure, b: TagStructure) -> None:
    both = a
    with suppress(InputError):
        both = merged(a, b)
    for old in (a,) if both is a else (a, b):
        for tsid, tag in old.tags.items():
            assert (both[tsid].name, both[tsid].type) == (tag.name, tag.type)
            assert set(tag.children) <= set(both[tsid].children)
        assert merged(both, old) is both


def test_an_extended_structure_has_the_tags_of_both() -> None:
    more = TagStructure(
        1,
        {1: Tag(1, "", "r", "snapshot", False, (3,)), 3: Tag(3, "", "b", "event", True)},
    )
    assert merged(OLD, more)[1].children == (2, 3)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('<tag id="2" name="r" type="snapshot"/>', "root must stay tag 1"),
        ('<tag id="1" name="s" type="snapshot"/>', "name of tag 1 must stay r; got s"),
        (
            '<tag id="1" name="r" type="snapshot"><tag id="2" name="a" type="event"/></tag>',
            "type of tag 2 must stay temporal; got event",
        ),
        (
            '<tag id="1" name="r" type="snapshot"><tag id="3" name="a" type="temporal"/></tag>',
            "a below r must stay tag 2; got tag 3 too",
        ),
    ],
)
def test_a_contradiction_is_refused(written: str, said: str) -> None:
    with pytest.raises(Error) as caught:
        merged(OLD, read_structure(written.encode()))
    assert caught.value.code == "XSCT0002"
    assert said in caught.value.message
