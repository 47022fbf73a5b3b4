"""Queries left running over update streams: the answer is that over the document as it stands."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.edges.test_updates_fragments import expected
from tests.edges.update_streams import update_streams
from xstreamcast.api import compiled, query
from xstreamcast.edges.updates.decoder import UpdateDecoder
from xstreamcast.edges.updates.lines import line
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.watching.watch import Watch
from xstreamcast.tape.names import Names

QUERIES = (
    'count(stream("s")//a)',
    'stream("s")//a/string()',
    'for $x in stream("s")/w/a where $x = "u" order by $x return <hit>{$x/text()}</hit>',
    'stream("s")//b[. = "v"]',
)


@pytest.mark.parametrize("text", QUERIES)
@given(stream=update_streams(most=8), size=st.integers(20, 400))
@settings(max_examples=examples(12))
def test_the_answer_is_that_over_the_document_as_it_stands(text, stream, size) -> None:
    names = Names()
    decoder = UpdateDecoder("s", names=names, wrap="w")
    watch, answer = Watch(compiled(text), {"s": "fragments"}, names=names), Accumulated()
    raw = b"".join(map(line, stream))
    chunks = [raw[at : at + size] for at in range(0, len(raw), size)]
    for chunk in [*chunks, None]:
        found = decoder.close() if chunk is None else decoder.feed(chunk)
        watch.on_arrivals("s", found, decoder.ids)
        for change in watch.tick():
            answer.apply(change)
    if decoder.structure is not None:
        plain = query(text).run(s=expected(stream).encode())
        assert answer.items() == list(plain.lines())
