"""Where a document is cut: by chunks that begin anywhere as in one go, and as expat sees it."""

from __future__ import annotations

from xml.parsers import expat

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from xstreamcast.algebra.analysis.cut import Guard
from xstreamcast.edges.batch.cuts import ByteBoundary, Unmatched, places

NAMES = st.sampled_from(["a", "b", "c", "k:a"])
LOOK = st.sampled_from(["<", "</a>", "<b>", "<!--", "-->", "<![CDATA[", "]]>", "?>", ">", "'", "-"])
ODD = st.lists(LOOK | st.sampled_from(["x", " ", "é"]), max_size=5).map("".join)
COMMENTS = ODD.map(lambda text: f"<!--{text.replace('-', '')}-->")
SECTIONS = ODD.map(lambda text: f"<![CDATA[{text.replace(']]>', '')}]]>")
ORDERS = ODD.map(lambda text: f"<?p {text.replace('?>', '')}?>")
TEXTS = st.sampled_from(["", "x", "] ", "> -- ?", "'\"", "&lt;b&gt;", "é" * 20])
VALUES = ODD.map(lambda text: text.replace("<", "&lt;"))


@st.composite
def _attributes(draw: st.DrawFn) -> str:
    quote = draw(st.sampled_from("'\""))
    value = draw(VALUES).replace(quote, "")
    return draw(st.sampled_from(["", f" n={quote}{value}/{quote}", " \n", f" n = {quote}{quote} "]))


def _elements(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    content = st.lists(inner | COMMENTS | SECTIONS | ORDERS | TEXTS, max_size=5).map("".join)
    return st.builds(
        lambda name, said, within: f"<{name}{said}>{within}</{name} >",
        NAMES,
        _attributes(),
        content,
    ) | st.builds(lambda name, said: f"<{name}{said}/>", NAMES, _attributes())


TREES = st.recursive(TEXTS | _elements(TEXTS), _elements, max_leaves=25)
PROLOGS = st.sampled_from([
    "", "<?xml version='1.0'?>\n", "<!-- <a> -->", "\ufeff",
    "<!DOCTYPE r [<!ENTITY e \"<b n='0'>x</b>\"><!-- ' --><?p > ?><!ELEMENT r ANY>]>",
])  # fmt: skip
DOCUMENTS = st.builds(
    lambda prolog, trees, end: f"{prolog}<r xmlns:k='k'>{''.join(trees)}</r>{end}".encode(),
    PROLOGS, st.lists(TREES, max_size=6), st.sampled_from(["", "\n", "<!-- </r> -->"]),
)  # fmt: skip
GUARDS = st.lists(st.sampled_from([("", "a"), ("", "b"), ("", "c")]), max_size=2)


def _by_expat(
    document: bytes, level: int, step: int, guards: list[Guard], held: list[Guard]
) -> list[ByteBoundary]:
    """The same places, as the definition says it."""
    found: list[ByteBoundary] = []
    opened: list[tuple[int, str]] = []
    had: list[bool] = []  # whether each open element has had a held child
    guarded, kept = {name for _, name in guards}, {name for _, name in held}
    parser = expat.ParserCreate()

    def begin(name: str, _: object) -> None:
        at, depth = parser.CurrentByteIndex, len(opened)
        local = name.rpartition(":")[2]
        free = not any(one in guarded for _, one in opened[:level]) and not any(had[:level])
        wanted = found[-1].at + step if found else step
        if at >= wanted and 0 < depth <= level and free:
            found.append(ByteBoundary(at, [place for place, _ in opened]))
        if had and local in kept:
            had[-1] = True
        opened.append((at, local))
        had.append(False)

    def end(_: str) -> None:
        del opened[-1], had[-1]

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.Parse(document, True)
    return found


@settings(max_examples=examples(150, 5000), deadline=None)
@given(DOCUMENTS, st.integers(1, 4), st.integers(1, 60), GUARDS, GUARDS, st.integers(1, 80))
@example(b"<r><a/><!--" + b"<b>" * 50 + b"--><b><c/></b></r>", 1, 1, [], [], 7)
@example(b"<r><a n='<b><c>'/><b/></r>".replace(b"<b><c>", b"&lt;b>"), 2, 3, [], [], 2)
def test_chunks_put_together_are_cut_as_the_whole(
    document: bytes, level: int, step: int, guards: list[Guard], held: list[Guard], chunk: int
) -> None:
    data = np.frombuffer(document, np.uint8)
    expected = _by_expat(document, level, step, guards, held)
    assert places(data, level, step, guards, held, 1, 1 << 20) == expected
    assert places(data, level, step, guards, held, 2, chunk) == expected
    assert places(data, level, step, guards, held, 1, chunk) == expected


def test_every_size_of_chunks() -> None:
    document = (
        b"<?xml version='1.0'?><!DOCTYPE r [<!ENTITY e '<r>'>]><r a='1>\"'><c y=\"2'>\"><b>1</b>"
        b"]]&gt;<!-- </c><b> --><b><![CDATA[</b><b]]></b></c><?p <b> ?><d><c/><k/></d><c>"
        b"<e><e><e><b/></e></e></e></c></r><!-- </r> -->"
    )
    data = np.frombuffer(document, np.uint8)
    for level in (1, 2, 5):
        expected = _by_expat(document, level, 1, [], [])
        assert expected
        for chunk in range(1, len(document) + 1):
            assert places(data, level, 1, [], [], 2, chunk) == expected


@pytest.mark.parametrize(
    "broken",
    [b"<a><b></a>", b"<a><b/>", b"</a><a>", b"<a b='></a>", b"<a><!-- </a>", b"<a></a><", b"<a"],
)
def test_markup_that_does_not_match_is_no_document(broken: bytes) -> None:
    data = np.frombuffer(broken, np.uint8)
    for chunk in range(1, len(broken) + 2):
        with pytest.raises(Unmatched):
            places(data, 2, 1, [], [], 2, chunk)


def test_deeper_than_there_is_room_for_at_first() -> None:
    document = b"<r>" + b"<a>" * 5000 + b"</a>" * 5000 + b"<b/></r>"
    found = places(np.frombuffer(document, np.uint8), 1, 100, [], [], 2, 9000)
    assert [place.at for place in found] == [len(document) - len(b"<b/></r>")]
