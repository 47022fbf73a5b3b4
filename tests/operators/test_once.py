"""Streams that are read once: nothing of them is kept, and answers are what they would be anyway,
where what an item is looked up in comes before the item.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from xstreamcast import query
from xstreamcast.algebra import plan as p
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.inputs.transient import transient
from xstreamcast.circuit.node_sources import in_order
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.relational.explain import explain_circuit
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.watching.inputs import Kind
from xstreamcast.operators.watching.network import Network

KINDS: dict[str | None, Kind] = {"log": "document"}
OPTION = 'declare option xsc:once "ask body=got";\n'
STREAMS = """declare stream price := for $s in stream("log")/log/set group by $k := $s/@k
  return <price k="{$k}" v="{sum($s/@v)}"/>;
declare stream ask := for $a in stream("log")/log/ask group by $n := $a/@n
  return <ask n="{$n}" k="{min($a/@k)}" times="{count($a)}"/>;
declare stream got := for $a in stream("ask")/answer/ask
  for $p allowing empty in stream("price")/answer/price[@k = $a/@k]
  return <got n="{$a/@n}" k="{$a/@k}">{$p/@v/string()}</got>;
"""
ALL = STREAMS + "stream('got')/answer/got"
NUMBERED = STREAMS + "for $g at $i in stream('got')/answer/got return <at n='{$g/@n}'>{$i}</at>"
COUNTED = STREAMS + "count(stream('got')/answer/got)"


def document(rounds: list[tuple[list[int], list[int]]]) -> str:
    """In each round values are set for its number, and only then asked for."""
    lines = []
    for k, (values, asked) in enumerate(rounds):
        lines += [f'<set k="{k}" v="{v}"/>' for v in values]
        lines += [f'<ask k="{k}" n="{n}"/>' for n in asked]
    return f"<log>\n{chr(10).join(lines)}\n</log>"


ROUNDS = st.lists(
    st.tuples(st.lists(st.integers(0, 9), max_size=3), st.lists(st.integers(0, 12), max_size=4)),
    max_size=8,
)


def changes(text: str, raw: str, cuts: list[int]) -> list[Any]:
    """The changes if the document comes in pieces that end there."""
    ends = sorted({min(cut, len(raw)) for cut in cuts} | {len(raw)})
    pieces = [raw[a:b].encode() for a, b in zip([0, *ends], ends, strict=False) if a < b]
    return list(query(text).watch(log=iter(pieces), batch=1))


@settings(deadline=None)
@given(ROUNDS, st.lists(st.integers(0, 600), max_size=5))
def test_what_is_emitted_is_the_answer_without_the_option(rounds, cuts):
    raw = document(rounds)
    found = changes(OPTION + ALL, raw, cuts)
    assert all(one.diff > 0 for one in found)
    assert [one.item for one in found] == list(query(ALL).run(log=raw.encode()).lines())


@settings(deadline=None, max_examples=examples(30))
@given(ROUNDS, st.lists(st.integers(0, 600), max_size=5), st.sampled_from([NUMBERED, COUNTED]))
def test_whoever_keeps_an_answer_keeps_it_in_order(rounds, cuts, text):
    """`got` is made of what is read once, and read by a query that keeps it."""
    raw = document(rounds)
    once = 'declare option xsc:once "ask";\n'
    answer = Accumulated(changes(once + text, raw, cuts))
    assert answer.items() == list(query(text).run(log=raw.encode()).lines())


def held(text: str, rounds: int) -> dict[str, int]:
    """About how many bytes each query keeps at the end."""
    network = Network(query(text).programs, KINDS)
    for k in range(rounds):
        piece = f'<ask k="{k}" n="{k}"/>'
        network.on_bytes("log", (("" if k else "<log>") + piece).encode())
        network.tick()
    return {name: watch.state_bytes for name, watch in network.watches.items()}


def test_nothing_is_kept_of_it():
    text = _with_prices("declare stream price := stream('log')/log/nothing;")
    few, many = held(OPTION + text, 20), held(OPTION + text, 200)
    for name in ("ask", "got", ""):
        assert many[name] <= few[name] + 200
    few, many = held(text, 20), held(text, 200)
    for name in ("ask", "got", ""):
        assert many[name] > 5 * few[name]


def _with_prices(declared: str) -> str:
    return declared + ALL[ALL.index("declare stream ask") :]


@pytest.mark.parametrize("said", ["nobody", "log", "price=nobody", "nobody=ask"])
def test_an_option_that_names_no_stream_is_an_error(said):
    with pytest.raises(Error, match="XSCS0005"):
        list(query(f'declare option xsc:once "{said}";\n{ALL}').watch(log=b"<log/>"))


BODIES = [
    "for $a in stream('ask')/answer/ask order by $a/@k descending return <o>{$a/@n}</o>",
    "for $a in stream('ask')/answer/ask group by $k := $a/@k return <g k='{$k}'>{count($a)}</g>",
    "for $a in stream('ask')/answer/ask[position() <= 2] return <p>{$a/@n}</p>",
    "<count>{count(stream('ask')/answer/ask)}</count>",
    "for $a in stream('ask')/answer/ask where $a/@k < max(stream('price')/answer/price/@v)"
    " return <m>{$a/@n}</m>",
    "(stream('price')/answer/price, stream('ask')/answer/ask)",
    "for $p in stream('price')/answer/price"
    " return <w k='{$p/@k}'>{count(stream('ask')/answer/ask[@k = $p/@k])}</w>",
    "for $a in stream('ask')/answer/ask for $b in stream('ask')/answer/ask[@k = $a/@k]"
    " return <pair a='{$a/@n}' b='{$b/@n}'/>",
    "for $a in stream('ask')/answer/ask return <r>{$a/@n,"
    " sum(stream('price')/answer/price[xs:integer(@v) le xs:integer($a/@k)]/@v)}</r>",
    "for tumbling window $w in stream('ask')/answer/ask start when true()"
    " end at $e when $e mod 2 = 0 return <t>{count($w)}</t>",
]


@pytest.mark.parametrize("body", BODIES)
@settings(deadline=None, max_examples=examples(15))
@given(ROUNDS, st.lists(st.integers(0, 600), max_size=5))
def test_rows_that_go_at_once_leave_what_rows_that_go_one_by_one_leave(body, rounds, cuts):
    raw, text = document(rounds), 'declare option xsc:once "ask";\n' + STREAMS + body
    found = changes(text, raw, cuts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CircuitRun, "let_go", lambda *_: False)
        assert found == changes(text, raw, cuts)


TOGETHER = [
    "(stream('ask')/answer/ask, stream('ask')/answer/ask/@n/string())",
    "for $a in stream('ask')/answer/ask"
    " return <s>{$a/@n, sum(stream('price')/answer/price[@k = $a/@k][number(@v) ge 3]/@v)}</s>",
    "for $a in stream('ask')/answer/ask"
    " return <l>{$a/@n, stream('price')/answer/price[@k = $a/@k][position() lt last()]}</l>",
    "for $a in stream('ask')/answer/ask"
    " return <l>{stream('price')/answer/price[@k != $a/@k][last()], $a/@n}</l>",
    "for $a in stream('ask')/answer/ask"
    " return <l>{$a/@n, stream('price')/answer/price[@k le $a/@n][position() = (2, 3)]}</l>",
    "for $a in stream('ask')/answer/ask for $p in stream('price')/answer/price[@v > $a/@n]"
    " return <y>{$a/@n, $p/@v, $p/@k}</y>",
    "for $a in stream('ask')/answer/ask, $d in (1, 2)[. le number($a/@times)]"
    " return <e>{$a/@n, exists(stream('price')/answer/price[@k = string($a/@k - $d)]), $d}</e>",
    "for $a in stream('ask')/answer/ask[@n > 5] return 12 idiv ($a/@n - 9)",
    "for $a in stream('ask')/answer/ask for $p in stream('price')/answer/price[@k = $a/@k]"
    " return 12 idiv ($p/@v - $a/@n)",
]


@pytest.mark.parametrize("body", TOGETHER)
@settings(deadline=None, max_examples=examples(10))
@given(ROUNDS, st.lists(st.integers(0, 600), max_size=5))
def test_rows_evaluated_together_give_what_rows_by_themselves_give(body, rounds, cuts):
    raw, text = document(rounds), 'declare option xsc:once "ask";\n' + STREAMS + body
    found = answered(text, raw, cuts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xstreamcast.operators.relational.run.by_columns", lambda *_: False)
        assert found == answered(text, raw, cuts)


GROUPED = """declare option xsc:once "ask";
declare stream ask := for $a in stream("log")/log/ask group by $n := $a/@n, $k := $a/@k
  return <ask n="{$n}" of="{sum($a/@n)}" part="{12 idiv (count($a) - 3)}">{reverse($a/@n)}</ask>;
stream("ask")/answer/ask"""


@settings(deadline=None, max_examples=examples(40))
@given(ROUNDS, st.lists(st.integers(0, 600), max_size=3))
def test_new_groups_as_columns_are_new_groups_as_rows(rounds, cuts):
    raw = document(rounds)
    found = answered(GROUPED, raw, cuts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xstreamcast.operators.relational.groups.first_of_group.is_plain", _never)
        assert found == answered(GROUPED, raw, cuts)


def _never(_: object) -> bool:
    return False


def answered(text: str, raw: str, cuts: list[int]) -> list[str]:
    """The answer in order, or the error in place of it."""
    try:
        return Accumulated(changes(text, raw, cuts)).items()
    except Error as why:
        return [str(why)]


def test_which_rows_are_evaluated_together():
    assert [body for body in TOGETHER if not is_together(body)] == []
    assert [body for body in BODIES if is_together(body)] == []


def is_together(body: str) -> bool:
    network = Network(query('declare option xsc:once "ask";\n' + STREAMS + body).programs, KINDS)
    run = network.watches[""].pipeline
    assert run is not None
    return bool(run.fresh_operators().passing)


def test_which_rows_all_go():
    asked = "for $a in stream('ask')/answer/ask "
    priced = f"{asked}for $p in stream('price')/answer/price[@k = $a/@k] return $p"
    assert gone(priced) == {"ask": True, "price": False, "": True}
    assert gone("(stream('price')/answer/price, stream('ask')/answer/ask)") is None


def gone(body: str) -> dict[str, bool] | None:
    """Whether all rows go of the units of each input, and of the root."""
    network = Network(query('declare option xsc:once "ask";\n' + STREAMS + body).programs, KINDS)
    run = network.watches[""].pipeline
    assert run is not None
    found = transient(run.circuit, frozenset({"ask"}))
    if found is None:
        return None
    units = [one for one in in_order(run.circuit.root) if isinstance(one, c.Units)]
    return {str(one.input): id(one) in found for one in units} | {"": id(run.circuit.root) in found}


def test_elements_of_a_root_stay():
    rows = c.Spine("s", 0, p.Variable(1, "document"), p.Variable(2, "element"), 2)
    assert (
        transient(c.Circuit(rows, p.EMPTY, ("s",), frozenset()), frozenset({"ask"})) == frozenset()
    )


def test_explain_shows_what_lives_for_one_tick():
    programs = query(OPTION + STREAMS + BODIES[0]).programs
    said = explain_circuit(programs["got"], None, frozenset(programs), frozenset({"ask"}))
    assert said.count("keeps: nothing after the tick, its rows are columns") == 4
    assert "join eq: $value" in said
    assert "keeps: the right side, hash index" in said
    assert said.count("keeps: the place of each unit") == 1  # of the prices, which may change
    ordered = explain_circuit(programs[""], None, frozenset(programs), frozenset({"ask"}))
    assert ordered.count("keeps: nothing after the tick;") == 3
