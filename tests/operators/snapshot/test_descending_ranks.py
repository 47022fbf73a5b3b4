"""Descending numbers of snapshots by earlier versions, whose ranks have another form."""

from __future__ import annotations

import pytest

from tests.operators.snapshot.going_on import going_on, snapshot
from tests.operators.snapshot.test_what_is_kept import HEAD, UNITS
from tests.operators.watched import Watched
from xstreamcast.operators.relational.orders.order import OrderOperator

KINDS = {"s": "fragments"}
QUERY = """for $a in stream("s")//u order by number($a/v) descending empty greatest, $a/k descending
    return string($a/v)"""


def order(running: Watched) -> OrderOperator:
    run = running.watch.pipeline
    assert run is not None
    assert run._operators is not None
    (found,) = [one for one in run._operators.all if isinstance(one, OrderOperator)]
    return found


@pytest.mark.parametrize("negates", [True, False])
def test_the_order_goes_on_in_the_form_that_it_has(negates: bool):
    running = Watched(QUERY, KINDS)
    running.feed("s", HEAD)
    order(running)._negates = negates
    for piece in UNITS[:6]:
        running.feed("s", piece)
    other = going_on(snapshot(running), QUERY, KINDS)
    assert order(other)._negates is negates
    for piece in UNITS[6:]:
        running.feed("s", piece)
        decoder = other.decoders["s"]
        other.watch.on_arrivals("s", decoder.feed(piece), decoder.ids)
        changes = other.watch.tick()
        assert changes == running.changes[len(running.changes) - len(changes) :]
        assert running.told.items() == running.afresh()
