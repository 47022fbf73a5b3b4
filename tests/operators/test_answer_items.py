"""Items of answers as elements: what needs no parser to see is what a parser sees."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from xstreamcast.operators.feeds.answer import _content, element_of, elements_of, is_plain

PARTS = st.sampled_from(
    ["<", "a", "b:c", "xmlns", " ", '="', '"', "/>", ">", "</a>", "x", "=", "&amp;", "&", "é", "\t"]
)
ITEMS = st.lists(PARTS, max_size=12).map("".join) | st.lists(
    st.tuples(st.sampled_from(["a", "b", "xmlns", "p:q"]), st.text(max_size=3)), max_size=3
).map(lambda pairs: "<e" + "".join(f' {name}="{value}"' for name, value in pairs) + "/>")


@given(ITEMS)
def test_what_is_plain_is_one_element(item):
    if is_plain(item):
        assert _content(item) is True


def test_plain_items_are_recognised():
    assert is_plain('<toll vid="7" time="60" lav="-1"/>')
    assert is_plain("<done/>")
    assert not is_plain('<a x="1" x="2"/>')
    assert not is_plain("<a>5</a>")
    assert element_of('<a x="1" x="2"/>').startswith(b"<item>")


PLAIN = st.sampled_from(['<a x="1" y="2"/>', "<done/>", '<a x="1" x="2"/>', "<a/>\n<b/>", "5", ""])


@given(st.lists(ITEMS | PLAIN, max_size=6))
def test_items_recognised_all_at_once_are_what_each_of_them_is(items):
    assert elements_of(items) == b"".join(map(element_of, items))


def test_items_with_line_breaks_are_not_taken_for_several():
    assert elements_of(["<a/>\n<b/>"]) == element_of("<a/>\n<b/>")
    assert elements_of(["<a/>", '<a x="1" x="2"/>']) == b"<a/>" + element_of('<a x="1" x="2"/>')
