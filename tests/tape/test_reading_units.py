"""Units of a stream, however its bytes are cut, hold what they hold in one piece."""

from __future__ import annotations

import pytest

from xstreamcast.errors import InputError
from xstreamcast.tape.layout import ELEMENT, KIND
from xstreamcast.tape.limits import default_limits
from xstreamcast.tape.names import Names
from xstreamcast.tape.reading.units import UnitReading

DOCUMENTS = [
    b'<r xmlns:p="urn:p"><x k="1">one<y/></x><p:x xmlns="urn:d"><y>2</y></p:x><x> </x><x>3</x></r>',
    b'<r xmlns="urn:a" xmlns:b="urn:b"><x>long text</x><b:x> <y/> </b:x><x b:k="v">&lt;</x></r>',
]


def values(document: bytes, length: int) -> list[tuple[int, bytes]]:
    """Kind and bytes of each row but elements, whose spans tell nothing."""
    reading = UnitReading(1, default_limits(), Names(), "s")
    found = []
    for at in range(0, len(document), length):
        tape = reading.feed(document[at : at + length])
        if tape is None:
            continue
        c = tape.columns
        for kind, start, size in zip(c.kind, c.start, c.length, strict=True):
            assert kind & KIND == ELEMENT or 0 <= start <= start + size <= len(c.heap)
            if kind & KIND != ELEMENT:
                found.append((int(kind), c.heap[start : start + size].tobytes()))
    return found


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("length", range(1, 30))
def test_what_units_inherit_stays_where_it_is(document, length):
    assert values(document, length) == values(document, len(document))


def read_to_the_end(chunks: list[bytes]) -> None:
    reading = UnitReading(1, default_limits(), Names(), "s")
    for chunk in chunks:
        reading.feed(chunk)
    reading.close()


@pytest.mark.parametrize("inside", [b"", b"text", b"<y/>"])
@pytest.mark.parametrize("length", [1, 5, 99])
def test_a_wrong_end_tag_is_refused_though_nothing_follows_it(inside, length):
    """It is shorter than the right one, which may still be on its way for all the loop knows."""
    document = b"<r><x/><incident>" + inside + b"</r>"
    with pytest.raises(InputError, match="the end tag must be that of <incident>"):
        read_to_the_end([document[at : at + length] for at in range(0, len(document), length)])


@pytest.mark.parametrize("end", [b"", b"<", b"</", b"</r", b"<!-- > ", b"te>xt", b"<y a='>"])
def test_what_is_cut_off_is_no_error(end):
    read_to_the_end([b"<r><x/><incident>" + end])
