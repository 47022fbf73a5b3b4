"""Trees that were made on several tapes stand on one, in the order in which they are met."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from xstreamcast.model.delta import OwnNode
from xstreamcast.operators.relational.own_trees import assembled, tops_of
from xstreamcast.tape.layout import Tape
from xstreamcast.tape.store import Store


def _tapes(texts: list[str]) -> tuple[Store, list[Tape]]:
    store = Store()
    numbers = [store.read(text.encode()) >> 32 for text in texts]
    return store, [store.tape(number) for number in numbers]


TREES = st.lists(
    st.sampled_from(["<a/>", '<b x="1">t</b>', "<c><d>ä</d><e y='&lt;'/></c>", "<f>1<g/>2</f>"]),
    min_size=1,
    max_size=5,
)


@given(TREES, st.data())
def test_nodes_are_what_they_were_and_stand_in_the_order_in_which_they_are_met(
    texts: list[str], data: st.DataObject
) -> None:
    store, tapes = _tapes(texts)
    places = [(at, row) for at, tape in enumerate(tapes) for row in range(len(tape))]
    chosen = data.draw(st.lists(st.sampled_from(places), min_size=1, unique=True))
    nodes = [OwnNode(tapes[at], row) for at, row in chosen]
    before = [store.serialize((store.add(node.tape) << 32) | node.row) for node in nodes]
    tape, rows, trees = assembled(nodes)
    assert trees.nodes(rows) == nodes  # each is what it was, whatever tape it is read on
    base = store.add(tape)
    after = [store.serialize((base << 32) | row) for row in rows.tolist()]
    assert after == before
    met = list(dict.fromkeys(at for at, _ in chosen))
    tops = dict(zip((at for at, _ in chosen), tops_of(tape, rows).tolist(), strict=True))
    assert sorted(met, key=tops.__getitem__) == met
    assert len(tape) == sum(len(tapes[at]) for at in met)  # each tree once
