"""A thin payload has the children that are seen, attributes and holes, and no other."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tests.streams_strategies import HEAD
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.history.forgetting import excerpt
from xstreamcast.history.thinning import thinned
from xstreamcast.model.fragment import FragmentBatch

STRUCTURE = (
    '<stream:structure><tag id="0" name="r" type="snapshot"><tag id="1" name="a" type="temporal">'
    '<tag id="3" name="b"/><tag id="4" name="c"/><tag id="2" name="d" type="event"/></tag></tag>'
    "</stream:structure>"
)
WIRE = "{urn:xstreamcast:stream}hole"


@st.composite
def payloads(draw, number):
    hole = f'<stream:hole id="{number}7" tsid="2"/>'
    inner = st.sampled_from(
        [hole, "t", "&amp;", "<b>1</b>", '<c x="2">2<b/></c>', "<b/>", "<!--n-->", "<d>0</d>"]
    )
    content = "".join(draw(st.lists(inner, max_size=6)))
    return f'<a k="{number}">{content}</a>'


def batch_of(contents: list[str]) -> FragmentBatch:
    valid = 'validTime="2020-01-01T00:00:00"'
    lines = [
        f'<stream:filler id="{i + 1}" tsid="1" {valid}>{one}</stream:filler>'
        for i, one in enumerate(contents)
    ]
    found = Decoder("s").feed((HEAD + STRUCTURE + "".join(lines)).encode())
    (batch,) = (one for one in found if isinstance(one, FragmentBatch))
    return batch


def written(batch: FragmentBatch, at: int) -> bytes:
    text = batch.tape.serialize(int(batch.payload[at]))
    return _canonical(etree.fromstring(_bound(text)))


def _bound(text: bytes) -> bytes:
    return b'<w xmlns:stream="urn:xstreamcast:stream">' + text + b"</w>"


def _canonical(node) -> bytes:
    return etree.tostring(node, method="c14n")


def expected(content: str, seen: set[str]) -> bytes:
    node = etree.fromstring(_bound(content.encode()))
    (root,) = node
    root.text = None
    for child in list(root):
        child.tail = None
        if child.tag not in {*seen, WIRE}:
            root.remove(child)
    return _canonical(node)


@given(st.data(), st.sets(st.sampled_from(["b", "c"])), st.booleans())
def test_what_is_not_seen_is_left_out(data, seen, thin):
    contents = [data.draw(payloads(i)) for i in range(1, 4)]
    batch = batch_of(contents)
    names = batch.tape.names
    wanted = np.zeros((6, len(names)), np.bool_)
    for local in seen:
        wanted[1] |= names.matching(local, "")
    by_tag = np.zeros(6, np.bool_)
    by_tag[1] = thin
    made = thinned(batch, by_tag, wanted, set())
    for at, content in enumerate(contents):
        whole = _canonical(etree.fromstring(_bound(content.encode())))
        assert written(made, at) == (expected(content, seen) if thin else whole)
    assert [made.tape.columns.name[r] for r in made.hole_row] == [
        batch.tape.columns.name[r] for r in batch.hole_row
    ]
    assert made.hole_id.tolist() == batch.hole_id.tolist()


@given(st.data(), st.lists(st.booleans(), min_size=3, max_size=3))
def test_an_excerpt_says_what_the_tape_said(data, which):
    batch = batch_of([data.draw(payloads(i)) for i in range(1, 4)])
    part = batch.some(np.array(which))
    if not any(which):
        assert len(part) == 0
        return
    tape, rows = excerpt(part.tape, part.payload.astype(np.int64))
    said = [_canonical(etree.fromstring(_bound(tape.serialize(int(row))))) for row in rows]
    assert said == [written(batch, i) for i in np.flatnonzero(which).tolist()]
