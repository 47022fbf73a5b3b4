"""Rows compared with rows of their own stream, by order and by equality: ranks, moving averages,
bands. At each instant the answer is that of a run afresh, and at last that of SaxonC-HE.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.operators.watched import Watched
from tests.oracle import answer, canonical
from xstreamcast.errors import Error
from xstreamcast.operators.relational.run import CircuitRun

HEAD = """<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>
<tag id="1" name="r" type="snapshot"><tag id="2" name="u" type="temporal"/></tag>
</stream:structure>"""
U = 'stream("s")/r/u'
QUERIES = {
    "rank": f"for $a in {U} order by $a/@v, $a/@n return count({U}[@v > $a/@v]) + 1",
    "first ranks": f"""for $a in {U} let $rank := count({U}[number(@v) > number($a/@v)]) + 1
        where $rank <= 2 order by $rank, $a/@n return concat($rank, ":", $a/@n)""",
    "few above": f"for $a in {U} where count({U}[number(@v) > number($a/@v)]) < 2 return $a",
    "none above": f"{U}[not({U}/number(@v) > number(@v))]/@n/string()",
    "rank of its kind": f"""for $a in {U}
        return concat($a/@n, ":", count({U}[@k = $a/@k][number(@v) > number($a/@v)]))""",
    "first of its kind": f"""for $a in {U}
        where count({U}[@k = $a/@k and number(@v) > number($a/@v)]) = 0 return string($a/@n)""",
    "moving average": f"""for $a in {U} return <m n="{{$a/@n}}">{{
        avg({U}[number(@t) > number($a/@t) - 3][number(@t) <= number($a/@t)]/number(@v))}}</m>""",
    "moving sum of its kind": f"""for $a in {U}
        let $w := {U}[@k = $a/@k][xs:integer(@t) > xs:integer($a/@t) - 3]
        return sum($w[xs:integer(@t) <= xs:integer($a/@t)]/xs:decimal(@v))""",
    "loop between": f"""for $a in {U} let $c := count(for $b in {U}
        where xs:integer($b/@t) >= xs:integer($a/@t) - 2 and xs:integer($b/@t) < xs:integer($a/@t)
        return $b) where $c > 1 return concat($a/@n, ":", $c)""",
    "had one before": f"""for $a in {U} where exists({U}[@k = $a/@k and number(@t) < number($a/@t)
        and number(@t) >= number($a/@t) - 2]) return string($a/@n)""",
    "some between": f"""for $a in {U} where some $b in {U} satisfies
        (number($b/@v) > number($a/@v) and number($b/@v) < number($a/@v) + 2)
        return string($a/@n)""",
    "pairs between": f"""for $a in {U}, $b in {U}
        where number($b/@t) >= number($a/@t) - 2 and number($b/@t) < number($a/@t)
        return concat($a/@n, " ", $b/@n)""",
    "pairs between of a kind": f"""for $a in {U}, $b in {U} where $a/@k = $b/@k
        and number($b/@t) >= number($a/@t) - 2 and number($b/@t) <= number($a/@t)
        return concat($a/@n, " ", $b/@n)""",
    "several kinds": f"""for $a in {U}
        return count({U}[tokenize(@k) = tokenize($a/@k)][number(@v) >= number($a/@v)])""",
    "greatest before": f"""for $a in {U}
        return max({U}[number(@t) < number($a/@t) and number(@t) > 1]/number(@v))""",
    "top ranks": f"""(for $a in {U} order by number($a/@v) descending, $a/@n return
        <r n="{{$a/@n}}">{{count({U}[number(@v) > number($a/@v)]) + 1}}</r>)[position() <= 2]""",
    "before by position": f"""for $a at $i in {U}
        return concat($a/@n, "<", {U}[$i - 1]/@n, "<", {U}[position() = $i + 1]/@n)""",
    "last three": f"""let $u := {U} for $a at $i in $u
        return concat($a/@n, ":", sum(subsequence($u, $i - 2, 3)/xs:decimal(@t)))""",
    "last three from half": f"""let $u := {U} for $a at $i in $u
        return concat($a/@n, ":", string-join(subsequence($u, $i div 2, $i * 0.5)/@n, " "))""",
    "by positions": f"""let $u := {U} for $a at $i in $u return
        avg($u[position() > $i - 3 and position() <= $i]/number(@t))""",
    "by positions of an order": f"""let $u := (for $x in {U} order by xs:integer($x/@t) return $x)
        for $a at $i in $u return concat($a/@n, ":", sum($u[position() <= $i] ! xs:integer(@t)))""",
    "functions of the focus": f"""for $a in {U}
        return count({U}/@k[string-length() < string-length($a/@k)][normalize-space() != "b"])""",
}

units = st.fixed_dictionaries(
    {
        "v": st.sampled_from(["1", "2", "2.5", "3", "10", "x"]),
        "k": st.sampled_from(["a", "b", "a b", ""]),
        "t": st.sampled_from([str(t) for t in range(8)]),
    }
)


@st.composite
def pieces(draw, words: st.SearchStrategy[str]):
    """Versions of units in any order: corrections, removals, late ones."""
    ids = range(2, 2 + draw(st.integers(1, 6)))
    holes = "".join(f'<stream:hole id="{i}" tsid="2"/>' for i in ids)
    lines = [_filler("filler", 0, 1, 0, f"<r>{holes}</r>")]
    numeric = draw(st.booleans())
    for i in ids:
        for minute in draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)):
            given = draw(units)
            v = given["v"] if given["v"] != "x" or not numeric else "4"
            payload = f'<u n="{i}" v="{v}" k="{given["k"]}" t="{given["t"]}"/>'
            lines.append(_filler(draw(words), i, 2, minute, payload))
    return [line.encode() for line in draw(st.permutations(lines))]


def _filler(word: str, number: int, tag: int, minute: int, payload: str) -> str:
    head = f'id="{number}" tsid="{tag}" validTime="2020-01-01T00:0{minute}:00"'
    if word == "remove":
        return f"<stream:remove {head}/>"
    return f"<stream:{word} {head}>{payload}</stream:{word}>"


@pytest.mark.parametrize("text", QUERIES.values(), ids=QUERIES)
@settings(
    max_examples=examples(25, 400),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    deadline=None,
)
@given(st.data())
def test_ranks_and_bands(text, data):
    saxonche = pytest.importorskip("saxonche")
    words = st.sampled_from(["filler", "filler", "filler", "remove"])
    arrivals = data.draw(pieces(words))
    following = Watched(text)
    wire = HEAD.encode()
    following.feed("s", wire)
    waiting = b""
    for piece in arrivals:
        waiting += piece
        if data.draw(st.integers(0, 2)) == 0:
            continue
        wire += waiting
        try:
            following.feed("s", waiting)
        except Error:
            assert following.afresh() is None
            return
        waiting = b""
        if data.draw(st.integers(0, 3)) == 0:
            following.restart()
        expected = following.afresh()
        if expected is not None:
            assert following.told.items() == expected
    assert not isinstance(following.watch.pipeline, CircuitRun) or not (
        following.watch.pipeline.circuit.whole
    )
    if following.afresh() is None or wire == HEAD.encode():
        return
    try:
        found = answer(text, {"s": wire + b"</stream:fragments>"})
    except saxonche.PySaxonApiError:
        return
    assert [canonical(item) for item in following.told.items()] == found
