"""Units of a stream, however its bytes are cut, hold what they hold in one piece."""

from __future__ import annotations

import pytest

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
