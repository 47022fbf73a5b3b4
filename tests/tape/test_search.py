"""What payloads may have is found by their bytes: never less than lxml finds."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from xstreamcast.tape.values.search_kernels import Searched, search

PLAIN = ("one", "two", "on", "é", "", " one", "a>b", "no one")
ODD = ("o&#110;e", "<![CDATA[one]]>", "on<!-- </v> -->e", "<b>one</b>", "one<?p </v>?>", "on&#13;e")
GIVEN = ("", " n='one'", ' n="a>b" ', "\n n = 'two'", " nn='one'", " n=''")
TEXTS = ("one", "two", "é", "on", "a>b", "x" * 40)


def _found(
    payloads: list[bytes], name: str, attribute: str, texts: list[str], inside: bool
) -> list[int]:
    raw, packed = b"".join(payloads), [text.encode() for text in texts]
    lengths = [len(one) for one in payloads]
    out = np.empty(len(payloads), np.uint8)
    heap = np.frombuffer(raw, np.uint8)
    wanted = Searched(
        np.frombuffer(name.encode(), np.uint8), np.frombuffer(attribute.encode(), np.uint8),
        np.frombuffer(b"".join(packed), np.uint8),
        np.array([0, *accumulate(map(len, packed))], np.int64), int(inside),
    )  # fmt: skip
    start = np.array([0, *accumulate(lengths)][:-1], np.int64)
    search(heap.ctypes.data, len(heap), start, np.array(lengths, np.int64), wanted, out)
    return [int(one) for one in out]


def _values(payload: bytes, name: str, attribute: str) -> list[str]:
    root = etree.fromstring(payload)
    elements = [root] if not name else [one for one in root.iter("*") if one.tag == name]
    if attribute:
        return [str(one.get(attribute)) for one in elements if attribute in one.attrib]
    return [str(one.xpath("string()")) for one in elements]


@st.composite
def payloads(draw: st.DrawFn, values: tuple[str, ...]) -> bytes:
    value = st.sampled_from(values)
    parts = []
    for _ in range(draw(st.integers(0, 4))):
        name = draw(st.sampled_from(("v", "vv", "w")))
        given = draw(
            st.sampled_from(("", " n='one'", ' n="a>b" ', "\n n = 'two'", " nn='one'", " n=''"))
        )
        content = draw(value)
        empty = not content and draw(st.booleans())
        parts.append(f"<{name}{given}/>" if empty else f"<{name}{given}>{content}</{name} >")
    at = draw(st.sampled_from(("", " n='one'", " m='one' n='é'", "\tn='on'")))
    filling = draw(st.sampled_from(("", "x" * 50)))
    return f"<e{at}>{filling}{''.join(parts)}</e>".encode()


@given(
    st.lists(payloads(PLAIN), min_size=1, max_size=5),
    st.sampled_from(("v", "w", "")),
    st.sampled_from(("", "n")),
    st.lists(st.sampled_from(TEXTS), min_size=1, max_size=2),
    st.booleans(),
)
def test_plain_values_are_found_exactly(
    made: list[bytes], name: str, attribute: str, texts: list[str], inside: bool
) -> None:
    attribute = attribute if name else "n"

    def is_found(payload: bytes) -> bool:
        found = _values(payload, name, attribute)
        return any(text in value if inside else text == value for text in texts for value in found)

    assert _found(made, name, attribute, texts, inside) == [int(is_found(one)) for one in made]


@given(
    st.lists(payloads(PLAIN + ODD), min_size=1, max_size=5),
    st.sampled_from(("v", "w")),
    st.sampled_from(TEXTS),
    st.booleans(),
)
def test_no_value_is_missed(made: list[bytes], name: str, text: str, inside: bool) -> None:
    found = _found(made, name, "", [text], inside)
    for payload, one in zip(made, found, strict=True):
        values = _values(payload, name, "")
        if any(text in value if inside else text == value for value in values):
            assert one
