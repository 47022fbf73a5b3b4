"""String and number values agree with expat, SaxonC and Python, however the bytes are written."""

from __future__ import annotations

import math
from xml.parsers import expat

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.tape.documents import documents
from tests.tape.oracles import saxon_texts
from xstreamcast.tape.expat.through_expat import columns_from_expat
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    COMMENT,
    NEEDS_DECODE,
    PI,
    TEXT,
    Columns,
    Tape,
    frozen_bytes,
)
from xstreamcast.tape.names import Names
from xstreamcast.tape.store import Store
from xstreamcast.tape.values.numbers import doubles_of
from xstreamcast.tape.values.strings import hash_texts

ALL = np.array([0], np.int64)


def raw(kind: int, data: bytes) -> Tape:
    """A tape of one node whose value still has to be decoded."""
    one = (np.array([value], np.int32) for value in (0, -1, 0))
    name, parent, size = one
    columns = Columns(
        np.array([kind | NEEDS_DECODE], np.uint8),
        np.zeros(1, np.uint16),
        name,
        parent,
        size,
        np.zeros(1, np.int64),
        np.array([len(data)], np.int32),
        frozen_bytes(data),
    )
    return Tape(columns, Names())


def by_expat(kind: int, data: bytes) -> str:
    """What expat makes of the same bytes."""
    values: list[str] = []
    parser = expat.ParserCreate()
    parser.CharacterDataHandler = values.append
    parser.CommentHandler = values.append
    parser.ProcessingInstructionHandler = lambda _, value: values.append(value)
    parser.StartElementHandler = lambda _, attributes: values.extend(attributes.values())
    parser.Parse({TEXT: b"<a>%b</a>", ATTRIBUTE: b'<a b="%b"/>'}[kind] % data, True)
    return "".join(values)


characters = (b"x", b" ", b"\t", b"\n", b"\r", b"\r\n", b"]", b">", "é\U0001f600".encode())
named = (b"&lt;", b"&gt;", b"&amp;", b"&quot;", b"&apos;")
numbered = (b"&#65;", b"&#x1f600;", b"&#xE9;", b"&#13;", b"&#10;", b"&#9;")
pieces = st.sampled_from((*characters, *named, *numbered))
cdata = st.sampled_from((b"<![CDATA[]]>", b"<![CDATA[<&amp;>\r\n]]>", b"<![CDATA[]]]>"))


@given(st.lists(pieces | cdata).map(b"".join).filter(lambda data: b"]]>" not in _outside(data)))
def test_text_is_decoded_as_expat_decodes_it(data):
    check_value(raw(TEXT, data), by_expat(TEXT, data))


@given(st.lists(pieces).map(b"".join))
def test_attributes_are_normalised_as_expat_normalises_them(data):
    check_value(raw(ATTRIBUTE, data), by_expat(ATTRIBUTE, data))


@pytest.mark.parametrize("kind", [COMMENT, PI])
def test_comments_and_instructions_have_their_line_ends_normalised(kind):
    check_value(raw(kind, b"a\r\nb\rc &lt; <"), "a\nb\nc &lt; <")


def _outside(data: bytes) -> bytes:
    """The bytes outside CDATA sections."""
    return b"".join(part.partition(b"]]>")[2] for part in (b"]]>" + data).split(b"<![CDATA["))


def check_value(tape: Tape, value: str) -> None:
    """Every way of asking for the value of the first row gives it."""
    store = Store()
    store.add(tape)
    assert store.strings(ALL).tolist() == [value]
    assert store.equals(ALL, value.encode()).all()
    assert not store.equals(ALL, value.encode() + b"x").any()
    assert store.contains(ALL, value[1:].encode()).all()
    assert store.starts_with(ALL, value[:-1].encode()).all()
    assert store.ends_with(ALL, value[1:].encode()).all()
    assert store.hashes(ALL)[0] == hash_texts([value])[0]


@given(documents())
def test_string_values_agree_with_saxon(xml):
    store = Store()
    tape = store.tape(store.add(columns_from_expat(xml)))
    handles = np.flatnonzero(tape.columns.kind != 6)

    assert store.strings(handles).tolist() == saxon_texts("(//. | //@*)", xml)


@given(documents(), documents(), st.data())
def test_questions_over_several_tapes_are_answered_in_order(one, other, data):
    store = Store()
    numbers = [store.add(columns_from_expat(xml, names=store.names)) for xml in (one, other)]
    every = [row | number << 32 for number in numbers for row in range(len(store.tape(number)))]
    handles = np.array(data.draw(st.lists(st.sampled_from(every), min_size=1)), np.int64)

    values = [store.node(handle).string for handle in handles.tolist()]

    assert store.strings(handles).tolist() == values
    assert store.hashes(handles).tolist() == hash_texts(values).tolist()
    constant = values[0].encode()
    assert store.equals(handles, constant).tolist() == [value == values[0] for value in values]
    assert store.contains(handles, b"x").tolist() == ["x" in value for value in values]


def doubles(texts: list[str]) -> tuple[list[float], list[bool]]:
    coded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, coded)])
    values, valid = doubles_of(frozen_bytes(b"".join(coded)), offsets)
    return values.tolist(), valid.tolist()


@given(st.floats(allow_nan=False))
@example(0.1)
@example(-0.0)
@example(2.0**53)
@example(5e-324)
@example(1.7976931348623157e308)
def test_a_number_is_read_back_exactly(number):
    text = repr(number).replace("inf", "INF")

    (value,), (valid,) = doubles([text])

    assert valid
    assert math.copysign(1, value) == math.copysign(1, number)
    assert value == number


@given(
    st.from_regex(
        r"[ \t]?[+-]?[0-9]{0,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?\n?", fullmatch=True
    )
)
@example("9007199254740993")
@example("123456789012345678901234567890e-10")
@example("0.000000000000000000000000000000123456789012345678")
@example("1e23")
@example("8.5e22")
def test_a_number_is_rounded_as_python_rounds_it(text):
    (value,), (valid,) = doubles([text])

    try:
        expected = float(text)
    except ValueError:
        assert not valid
        assert math.isnan(value)
    else:
        assert valid
        assert value == expected


@given(st.text("0123456789.eE+-INFna_ \t\n", max_size=7))
@example("INF")
@example("-INF")
@example("+INF")
@example("NaN")
@example("-NaN")
@example("1_0")
@example("٣")
def test_what_is_a_number_agrees_with_saxon(text):
    (answer,) = saxon_texts("/a/@b castable as xs:double", f'<a b="{text}"/>'.encode())

    assert doubles([text])[1] == [answer == "true"]


def test_numbers_of_nodes_are_compared_with_a_constant():
    store = Store()
    store.add(columns_from_expat(b"<a><b>1</b><b> 2.5 </b><b>x</b><b>2<i>5</i></b><b/></a>"))
    items = store.tape(0).columns.level == 2

    found, valid = store.compare_number(np.flatnonzero(items), "gt", 2)

    assert found.tolist() == [False, True, False, True, False]
    assert valid.tolist() == [True, True, False, True, False]
