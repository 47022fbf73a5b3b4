"""Pieces of a document, however it is cut, are the document; what is whole stays whole."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tape.documents import documents
from tests.tape.events import well_shaped
from tests.tape.strategies import cut
from xstreamcast.errors import DataPlace, InputError
from xstreamcast.tape import Tape, read
from xstreamcast.tape.layout import ELEMENT, KIND
from xstreamcast.tape.names import Names
from xstreamcast.tape.reading.pieces import Piece, PieceReading


def pieces_of(chunks: list[bytes], depth: int, whole: str = "") -> list[Piece]:
    reading = PieceReading(depth, Names(), is_whole=lambda uri, local: local == whole)
    found = [piece for chunk in chunks if (piece := reading.feed(chunk)) is not None]
    reading.close()
    return found


def rows(tape: Tape, first: int = 1) -> list[tuple[int, int, str, bytes]]:
    """Kind, level, name and what stands for the value of each node but elements."""
    c, out = tape.columns, []
    for row in range(first, len(tape)):
        kind, start = int(c.kind[row]), int(c.start[row])
        name = tape.names.lexical(int(c.name[row])) if c.name[row] >= 0 else ""
        value = c.heap[start : start + max(int(c.length[row]), 0)].tobytes()
        out.append((kind, int(c.level[row]), name, b"" if (kind & KIND) == ELEMENT else value))
    return out


@given(st.data())
def test_what_is_new_in_the_pieces_is_the_document(data):
    text = data.draw(documents()) + b" " * 9
    found = pieces_of(data.draw(cut(text)), data.draw(st.integers(1, 5)))
    for piece in found:
        well_shaped(piece.tape)
    assert [row for one in found for row in rows(one.tape, one.fresh)] == rows(read(text))


@given(st.data())
def test_every_piece_stands_below_what_was_open(data):
    text = data.draw(documents()) + b" " * 9
    found = pieces_of(data.draw(cut(text)), data.draw(st.integers(1, 5)))
    for one, after in pairwise(found):
        c, d = one.tape.columns, after.tape.columns
        assert c.name[one.behind].tolist() == d.name[after.before].tolist()
        assert d.level[after.before].tolist() == list(range(1, len(after.before) + 1))


@given(st.data())
def test_elements_of_the_depth_are_never_cut_apart(data):
    text = data.draw(documents()) + b" " * 9
    depth = data.draw(st.integers(1, 4))
    found = pieces_of(data.draw(cut(text)), depth)
    for piece in found:
        assert len(piece.before) < depth
        assert len(piece.behind) < depth
    units = [
        piece.tape.serialize(row)
        for piece in found
        for row in range(len(piece.tape))
        if piece.tape.columns.level[row] == depth and piece.tape.columns.kind[row] & KIND == ELEMENT
    ]
    tape = read(text)
    c = tape.columns
    whole = [r for r in range(len(tape)) if c.level[r] == depth and c.kind[r] & KIND == ELEMENT]
    assert units == [tape.serialize(row) for row in whole]


def test_an_element_that_is_whole_stays_so_above_the_depth():
    text = b"<a><w><b>1</b><b>2</b></w><x><b>3</b><b>4</b></x></a>"
    found = pieces_of([bytes([byte]) for byte in text], 4, whole="w")
    written = [piece.tape.serialize(0) for piece in found]
    assert sum(b"<w>" in one for one in written) == 1
    assert sum(b"<x>" in one for one in written) > 1


@pytest.mark.parametrize("at", range(1, 30, 3))
def test_an_error_is_placed_in_the_whole_input(at):
    text = b"<a b='1'>\n<c>1</c>\n<c>2</d></a>"
    reading = PieceReading(3, Names(), "in")
    with pytest.raises(InputError) as refused:
        _ = [reading.feed(chunk) for chunk in (text[:at], text[at:], b" ")]
    assert isinstance(refused.value.place, DataPlace)
    assert (refused.value.place.line, refused.value.place.offset) == (3, text.index(b"</d>") + 2)


@pytest.mark.parametrize("inside", [b"", b"text", b"<y/>"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_wrong_end_tag_is_refused_though_nothing_follows_it(inside, depth):
    with pytest.raises(InputError, match="the end tag must be that of <incident>"):
        pieces_of([b"<r><x/><incident>" + inside + b"</r>"], depth)


@pytest.mark.parametrize("end", [b"", b"<", b"</", b"</r", b"<!-- > ", b"te>xt", b"<y a='>"])
def test_what_is_cut_off_is_no_error(end):
    pieces_of([b"<r><x/><incident>" + end], 2)
