"""Rows onto a tape: whatever fragments they are, the columns are those of the same on a wire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from tests.corpus_format import read_script
from tests.edges.documents import Case, cases
from xstreamcast.edges.cutting import cut
from xstreamcast.edges.table.rows import RowEncoder
from xstreamcast.edges.table.scanning import scan_rows
from xstreamcast.edges.table.schema import WORDS, arrow, row_schema
from xstreamcast.edges.table.wire import wire
from xstreamcast.edges.wire import Decoder
from xstreamcast.edges.wire.encoder import batch_lines
from xstreamcast.model.fragment import FragmentBatch, NewStructure, Refused

SCRIPTS = sorted((Path(__file__).parents[1] / "corpus").glob("*.stream"))
HEAD = (
    '<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>'
    '<tag id="1" name="r" type="snapshot"><tag id="2" name="tag" type="temporal"/>'
    '<tag id="3" name="hole" type="event"/></tag></stream:structure>'
)
ODD = [
    # payloads that are called like words of the wire, plain holes, references, namespaces, an order
    '<stream:filler id="0" tsid="1"><r><stream:hole id="a&amp;b" tsid="2"/><hole id="9"/></r>'
    '</stream:filler><stream:filler id="a&amp;b" tsid="2"><tag k="1"><hole id="1" tsid="3"/></tag>'
    "</stream:filler>",
    '<stream:filler id="h" tsid="3" in="0" validTo="2004-01-01Z" version="3">'
    '<hole id="7"><stream:hole id="a" tsid="2"/></hole></stream:filler>',
    '<stream:filler id="x" tsid="2" messageTime="2003-02-01T00:00:00Z" temporary="true">'
    '<tag xmlns:p="urn:p" p:q="&lt;">text &#65; <![CDATA[<]]><p:e/></tag></stream:filler>',
    '<stream:remove id="x" tsid="2" validTime="2005-01-01"/>',
    '<stream:remove id="x" validTime="2005-01-02"/><stream:repeat id="x" tsid="2"><tag/>'
    "</stream:repeat>",
]


def read(wires: bytes) -> tuple[Any, Any]:
    """(structure, rows) of a stream."""
    decoder = Decoder("s")
    rows = RowEncoder("s", decoder.ids)
    found = [*decoder.feed(wires), *decoder.close()]
    tables = [rows.rows(one) for one in found if isinstance(one, FragmentBatch)]
    return decoder.structure, arrow().Table.from_batches(tables, row_schema())


def told(decoder: Decoder, arrivals: list[Any]) -> list[Any]:
    out: list[Any] = []
    for one in arrivals:
        if isinstance(one, FragmentBatch):
            flags, lines = one.flags.tolist(), batch_lines(one, decoder.ids)
            out += zip(lines, flags, one.clock.tolist(), strict=True)
        elif isinstance(one, Refused):
            out.append((one.code, one.fragment, one.reason))
        else:
            assert isinstance(one, NewStructure), one
    return out


def both(structure: Any, rows: Any) -> None:
    """The same rows by columns, and by the wire."""
    by_columns, by_wire = Decoder("s", structure), Decoder("s", structure)
    scanned = scan_rows(rows, by_columns)
    assert scanned is not None
    expected = [*by_wire.feed(b"".join(wire(rows))), *by_wire.end_input()]
    assert told(by_columns, by_columns.take(scanned)) == told(by_wire, expected)
    assert by_columns.counts.read == by_wire.counts.read


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_rows_of_the_corpus(path: Path) -> None:
    script = read_script(path)
    for name in script.structures:
        structure, rows = read(script.wire(len(script.moments))[name])
        both(structure, rows)


@pytest.mark.parametrize("body", ODD)
def test_what_is_odd(body: str) -> None:
    structure, rows = read((HEAD + body).encode())
    assert rows.num_rows
    both(structure, rows)


@given(cases())
def test_documents_cut_into_fragments(case: Case) -> None:
    lines = b"".join(cut([case.document], case.structure))
    structure, rows = read(lines)
    both(structure, rows)


@pytest.mark.parametrize("payload", [b"", b"<tag/><tag/>", b"<tag>", b"x<tag/>", b"<other/>", None])
def test_a_payload_that_is_no_element_is_not_taken_for_one(payload: bytes | None) -> None:
    structure, rows = read((HEAD + ODD[2]).encode())
    bad = rows.set_column(
        rows.column_names.index("payload"), "payload", arrow().array([payload], arrow().binary())
    )
    decoder = Decoder("s", structure)
    scanned = scan_rows(bad, decoder)
    if payload == b"<other/>":
        assert scanned is not None
        (refused,) = decoder.take(scanned)
        assert isinstance(refused, Refused)
        assert refused.code == "XSCF0004"
    else:
        assert scanned is None


def test_operations_have_the_order_of_their_words() -> None:
    assert WORDS == ("filler", "replace", "remove", "repeat")
