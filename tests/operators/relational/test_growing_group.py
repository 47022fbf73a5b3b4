"""Groups over documents that only grow: equal to groups of the whole, and no row is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import xstreamcast as xsc
from xstreamcast.api import compiled
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.relational.groups.growing import GrowingGroup
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.watching.watch import Watch

FOLDS = (
    "count($e)",
    "sum($e/@v)",
    "avg($e/@v)",
    "min($e/@v), max($e/@v)",
    "sum($e ! xs:decimal(@v))",
    "sum($e ! (if (@v < 3) then xs:integer(@v) else number(@v)))",
    "avg($e ! (if (@v < 5) then xs:integer(@v) else xs:decimal(@v)))",
    "max($e ! (if (@v < 3) then xs:integer(@v) else number(@v)))",
    "min($e ! xs:float(@v)), sum($e ! xs:float(@v))",
    "sum($e ! (xs:dayTimeDuration('PT1S') * xs:integer(@v)))",
    "sum($e[@v > 8]/@v), exists($e[@v > 8])",
)
KEYS = (
    "$e/@k",
    "xs:integer($e/@v) mod 3",
    "if ($e/@v < 4) then xs:integer($e/@v) else $e/@v/number()",
)


def query(key: str, folds: str) -> str:
    return f"""for $e in stream("s")/log/e group by $k := {key}
        return <g k="{{$k}}">{{{folds}}}</g>"""


class Log:
    """A document that is open, and a query over it."""

    def __init__(self, text: str) -> None:
        self.text, self.raw, self.told = text, b"", Accumulated()
        self.watch = Watch(compiled(text), {"s": "document"})

    def feed(self, piece: bytes) -> None:
        self.raw += piece
        self.watch.on_bytes("s", piece)
        for change in self.watch.tick():
            self.told.apply(change)

    def afresh(self) -> list[str]:
        return list(xsc.query(self.text).run(s=self.raw + b"</log>").lines())

    @property
    def groups(self) -> list[GrowingGroup]:
        assert isinstance(self.watch.pipeline, CircuitRun)
        assert self.watch.pipeline._operators is not None
        return [one for one in self.watch.pipeline._operators.all if isinstance(one, GrowingGroup)]


ENTRIES = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), min_size=1, max_size=4)


@given(st.sampled_from(KEYS), st.sampled_from(FOLDS), st.lists(ENTRIES, min_size=1, max_size=6))
def test_groups_are_those_of_all_that_has_come(key, folds, pieces):
    log = Log(query(key, folds))
    log.feed(b"<log>")
    for piece in pieces:
        log.feed("".join(f'<e k="{k}" v="{v}"/>' for k, v in piece).encode())
        assert log.told.items() == log.afresh()
    assert log.groups


ODD = st.sampled_from(["7", " 3 ", "1e3", "-0", "0", "INF", "NaN", "2.50", "-4", None])
TEXTS = st.sampled_from(["a", "b", "", "10", "9", None])
ODD_ENTRIES = st.lists(st.tuples(TEXTS, ODD), min_size=1, max_size=5)
ABOVE = (
    """for $e in stream("s")/log/e group by $k := string($e/@k) order by sum($e/@v) descending, $k
        return <g k="{$k}">{count($e), avg($e/@v), min($e/@v)}</g>""",
    """<all>{for $e in stream("s")/log/e group by $k := $e/@k, $odd := number($e/@v) > 2
        return <g k="{$k}" odd="{$odd}">{
          max($e ! string(@k)), sum($e/@v), exists($e/@v)}</g>}</all>""",
    """max(for $e in stream("s")/log/e group by $k := $e/@k return count($e))""",
    """count(distinct-values(stream("s")/log/e/@v)), sum(stream("s")/log/e/@v)""",
    """for $v in distinct-values(stream("s")/log/e/@k) order by $v return $v""",
    """(for $e in stream("s")/log/e group by $v := number($e/@v) return <g v="{$v}">{
        count($e), min($e ! string(@k)), max($e ! string-length(@k))}</g>)[position() le 3]""",
)


def element(k: str | None, v: str | None) -> str:
    given = {"k": k, "v": v}
    return "<e" + "".join(f' {n}="{t}"' for n, t in given.items() if t is not None) + "/>"


@given(st.sampled_from(ABOVE), st.lists(ODD_ENTRIES, min_size=1, max_size=6))
def test_odd_values_and_what_stands_above_groups(text, pieces):
    log = Log(text)
    log.feed(b"<log>")
    for piece in pieces:
        log.feed("".join(element(k, v) for k, v in piece).encode())
        assert log.told.items() == log.afresh()


def test_a_zero_that_changes_its_sign_is_a_change():
    log = Log('sum(stream("s")/log/e/@v), avg(stream("s")/log/e/@v)')
    log.feed(b"<log>")
    log.feed(b'<e v="-0"/><e v="-0"/>')
    assert log.told.items() == ["-0", "-0"] == log.afresh()
    log.feed(b'<e v="0"/>')
    assert log.told.items() == ["0", "0"] == log.afresh()


def test_a_value_of_another_kind_ends_the_quick_way_of_its_group_alone():
    log = Log(
        query("$e/@k", "max($e/@v ! (if (. = 'x') then xs:date('2026-01-01') else number(.)))")
    )
    log.feed(b"<log>")
    log.feed(b'<e k="a" v="1"/><e k="b" v="2"/>')
    with pytest.raises(xsc.Error, match="FORG0006"):
        log.feed(b'<e k="a" v="x"/>')


def test_no_row_is_kept():
    log = Log(query("$e/@k", "count($e), sum($e/@v)"))
    log.feed(b"<log>")
    sizes = []
    for _ in range(40):
        log.feed("".join(f'<e k="{n % 7}" v="{n}"/>' for n in range(100)).encode())
        (group,) = log.groups
        assert len(group.groups) == 7
        sizes.append(log.watch.state_bytes)
    assert sizes[-1] <= sizes[1] + 4096


@pytest.mark.parametrize(("one", "other"), [("9007199254740993", "9007199254740992")])
def test_groups_become_one_when_numbers_are_told_apart_as_doubles(one: str, other: str):
    key = "if ($e/@d) then number($e/@k) else xs:integer($e/@k)"
    log = Log(query(key, "count($e), sum($e/@v), max($e/@v)"))
    log.feed(f'<log><e k="{one}" v="1"/><e k="{other}" v="2"/>'.encode())
    assert len(log.told.items()) == 2
    log.feed(f'<e d="" k="{other}" v="4"/>'.encode())
    assert log.told.items() == log.afresh()
    assert len(log.told.items()) == 1


def test_what_cannot_be_added_is_an_error():
    log = Log(query("$e/@k", "sum($e/@v)"))
    log.feed(b'<log><e k="a" v="1"/>')
    with pytest.raises(xsc.Error, match="FORG0001"):
        log.feed(b'<e k="a" v="x"/>')
