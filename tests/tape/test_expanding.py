"""Documents with an internal DTD subset, read as they come: what expat tells of them at once."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.tape.events import expat_events
from xstreamcast.errors import InputError
from xstreamcast.tape.expat.transcoding import Transcoder

HEADS = [
    "<!DOCTYPE r [<!ENTITY e 'x&#38;#38;y'><!ENTITY m '<b k=\"1\">&e;</b>'>"
    "<!ATTLIST a k CDATA 'v\tw'>]>",
    "<?xml version='1.0'?>\n<!-- c --><!DOCTYPE r SYSTEM 'x' [<!ENTITY e 'ü'><!ENTITY m ''>]>",
    "<?p i?><!DOCTYPE r [<!-- no ]> --><!ENTITY e \"]>\"><!ENTITY m '&e;&e;'>]> <!-- d -->",
]
PARTS = ["&e;", "&m;", "<a/>", "<a k='&e;&#9;&#10;'>t</a>", "<![CDATA[<&>]]>"]
PARTS += ["&#13;", "<!--x-->", "é"]


@given(st.sampled_from(HEADS), st.lists(st.sampled_from(PARTS), max_size=8), st.integers(1, 90))
@example(HEADS[0], PARTS, 1)
def test_in_any_chunks_it_is_the_same_document(head: str, parts: list[str], size: int):
    xml = f"{head}<r>{''.join(parts)}</r>".encode()
    coder = Transcoder("s")
    out = b"".join(coder.feed(xml[at : at + size]) or b"" for at in range(0, len(xml), size))
    assert coder.expands
    assert b"<!DOCTYPE" not in out
    assert expat_events(out) == expat_events(xml)


@given(st.integers(1, 200))
def test_what_follows_the_root_is_as_it_came(size: int):
    coder = Transcoder("s")
    one = f"{HEADS[0]}<r>&e;</r>"
    both = (one + "\n" + one).encode()
    out = b"".join(coder.feed(both[at : at + size]) or b"" for at in range(0, len(both), size))
    assert out == b"<r>x&amp;y</r>" + one.encode()


@pytest.mark.parametrize(
    ("xml", "code"),
    [
        ("<!DOCTYPE r [<!ENTITY e SYSTEM 'file:///x'>]><r>&e;</r>", "XSCX0006"),
        ("<!DOCTYPE r [<!ENTITY e 'x'>]><r>\n<a></b></r>", "XSCX0001"),
        ("<!DOCTYPE r [<!ENTITY e '&f;'><!ENTITY f '&e;'>]><r>&e;</r>", "XSCX0104"),
    ],
)
def test_an_error_has_its_code(xml: str, code: str):
    with pytest.raises(InputError) as refused:
        Transcoder("s").feed(xml.encode())
    assert refused.value.code == code


def test_what_declarations_add_is_limited():
    entity = "x" * 100_000
    xml = f"<!DOCTYPE r [<!ENTITY e '{entity}'>]><r>{'&e;' * 90}</r>"
    with pytest.raises(InputError) as refused:
        Transcoder("s").feed(xml.encode())
    assert refused.value.code == "XSCX0104"
