"""The scripts of the corpus, watched: the changes so far add up to the answer of each moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus_format import FOOT, HEAD, Script, read_script
from tests.oracle import canonical
from xstreamcast.api import compiled
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.watch import Watch

SCRIPTS = sorted((Path(__file__).parents[1] / "corpus").glob("*.stream"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_watched_says_what_it_says_asked(path: Path):
    script = read_script(path)
    if script.definitions:
        pytest.skip("it needs functions registered in Python")
    watch = Watch(compiled(script.query), dict.fromkeys(script.structures, "fragments"))
    decoders = {name: Decoder(name, names=watch.names) for name in script.structures}
    told = Accumulated()
    for name, decoder in decoders.items():
        start = f"{HEAD}{script.structures[name]}".encode()
        watch.on_arrivals(name, decoder.feed(start), decoder.ids)
    for moment in (one for one in script.moments if not one.past):
        decoder = decoders[moment.stream]
        watch.on_arrivals(moment.stream, decoder.feed(moment.arrives.encode()), decoder.ids)
        for change in watch.tick():
            told.apply(change)
        if moment.expected is not None:
            expected = [canonical(line) for line in moment.expected]
            assert [canonical(item) for item in told.items()] == expected, moment.line


def test_the_corpus_has_scripts():
    assert len(SCRIPTS) > 20
    assert all(isinstance(read_script(path), Script) for path in SCRIPTS)
    assert FOOT.startswith("</")
