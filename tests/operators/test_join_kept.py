"""Items that are kept for what follows, brought back from a snapshot."""

from __future__ import annotations

import pickle

import pytest

from xstreamcast.api import compiled, query
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.watch import Watch

DOCUMENT = (
    b'<r xmlns:p="urn:p"><x k="1" p:j="a&amp;b&#10;c">one<y/><!-- c --><?t d?></x>'
    b'<p:x xmlns="urn:d"><y>two &lt; &#13;</y></p:x><x> </x><x k="2">7<y>8</y></x></r>'
)


@pytest.mark.parametrize(
    "asked",
    [
        "<all>{ for $x in /r/* return $x }</all>",
        "reverse(/r/*/@*)",
        "<all>{ /r/x/node() }</all>",
        "string-join(/r/*/(string(@k), string()), '|')",
        "reverse(/r/x)",
        "(for $x in /r/* return ($x, 1, xs:date('2020-01-01'), xs:QName('a')), 'end')",
        "for $x in reverse(/r/*) return deep-equal($x, $x)",
    ],
)
def test_a_snapshot_brings_kept_items_back(asked):
    watch, told = Watch(compiled(asked), {None: "document"}), Accumulated()
    for at in range(0, len(DOCUMENT), 9):
        watch.on_bytes(None, DOCUMENT[at : at + 9])
        for change in watch.tick():
            told.apply(change)
        assert watch.pipeline is not None
        kept = pickle.loads(pickle.dumps(watch.pipeline.snapshot()))
        assert kept is not None
        watch.restore(kept)
    watch.on_end(None)
    for change in watch.tick():
        told.apply(change)
    assert told.items() == list(query(asked).run(DOCUMENT).lines())
