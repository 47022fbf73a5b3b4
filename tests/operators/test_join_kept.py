"""Items that are kept for what follows, brought back from a snapshot."""

from __future__ import annotations

import pytest

from xstreamcast.api import compiled, query
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.watching.watch import Watch

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
def test_items_are_kept_for_what_reads_them_together(asked):
    watch, told = Watch(compiled(asked), {None: "document"}), Accumulated()
    for at in range(0, len(DOCUMENT), 9):
        watch.on_bytes(None, DOCUMENT[at : at + 9])
        for change in watch.tick():
            told.apply(change)
    watch.on_end(None)
    for change in watch.tick():
        told.apply(change)
    assert told.items() == list(query(asked).run(DOCUMENT).lines())
