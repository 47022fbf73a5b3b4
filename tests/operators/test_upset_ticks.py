"""A tick that an error breaks off: what it would have told is told later, none of it is lost."""

from __future__ import annotations

import pytest

from xstreamcast.api import compiled
from xstreamcast.edges.decoding import decoder_of
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.watching.watch import Watch

HEAD = (
    '<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>'
    '<tag id="1" name="r" type="snapshot"><tag id="2" name="a" type="temporal"/></tag>'
    "</stream:structure>"
)
ROOT = '<r><stream:hole id="x" tsid="2"/><stream:hole id="y" tsid="2"/></r>'


def filler(name: str, tsid: int, day: int, payload: str) -> str:
    head = f'<stream:filler id="{name}" tsid="{tsid}" validTime="2003-01-{day:02}T00:00:00Z">'
    return f"{head}{payload}</stream:filler>"


@pytest.mark.parametrize(
    "asked",
    [
        'for $a in stream("s")//a return xs:integer($a?[now - P2D])',
        'for $a in stream("s")//a order by $a/@no return xs:integer($a?[now - P2D])',
        'for $a in stream("s")//a group by $k := $a/@no return sum($a ! xs:integer(.?[now - P2D]))',
    ],
)
def test_units_that_moved_when_the_clock_made_another_fail(asked: str) -> None:
    watch = Watch(compiled(asked), {"s": "fragments"})
    decoder, told = decoder_of("fragments", "s", watch.names, "stop"), Accumulated()

    def feed(text: str) -> list[str]:
        watch.on_arrivals("s", decoder.feed(text.encode()), decoder.ids)
        for change in watch.tick():
            told.apply(change)
        return told.items()

    begins = filler("x", 2, 1, "<a no='1'>1</a>") + filler("y", 2, 1, "<a no='2'>2</a>")
    feed(HEAD + filler("0", 1, 1, ROOT) + begins + filler("x", 2, 4, "<a no='1'>bad</a>"))
    before = feed(filler("y", 2, 3, "<a no='2'>22</a>") + filler("y", 2, 6, "<a no='2'>23</a>"))
    assert before == ["1", "2"]  # two days ago x began to be no number
    assert feed(filler("x", 2, 4, "<a no='1'>11</a>")) == ["11", "22"]
