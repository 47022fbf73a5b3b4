"""Elements of a root as rows: a loop over them answers as the query asked afresh, at every step."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.circuit.grammar import HEAD
from tests.conftest import examples
from tests.operators.watched import Watched
from xstreamcast.operators.relational.run import CircuitRun

STRUCTURE = (
    f'{HEAD}<stream:structure><tag id="1" name="r" type="snapshot">'
    '<tag id="2" name="g" type="snapshot"><tag id="3" name="u" type="temporal" filler="true">'
    '<tag id="4" name="v" type="snapshot"/></tag>'
    '<tag id="5" name="s" type="snapshot"><tag id="6" name="w" type="snapshot" filler="true">'
    '<tag id="7" name="v" type="snapshot"/></tag></tag></tag>'
    '<tag id="8" name="h" type="snapshot"><tag id="9" name="u" type="event" filler="true">'
    '<tag id="10" name="v" type="snapshot"/></tag></tag>'
    "</tag></stream:structure>"
)
ROWS = (  # all of them are circuits
    'for $g in stream("s")/r/g return count($g//v)',
    'for $g in stream("s")/r/g return <g n="{$g/@n}">{$g/u/v}</g>',
    'for $g in stream("s")/r/* return <g is="{name($g)}">{sum($g//v)}</g>',
    'for $g at $i in stream("s")/r/g return <g i="{$i}">{max($g/u/v/number())}</g>',
    'for $g in stream("s")/r/g where count($g/u) > 1 return string($g/@n)',
    'for $g in stream("s")/r/g where exists($g/s/w[v > 3]) return <w>{$g/s/w/v}</w>',
    'for $s in stream("s")/r/g/s return <s n="{$s/@n}">{count($s/w)}</s>',
    'for $g in stream("s")/r/g order by count($g/u) descending return <g>{$g/@n}</g>',
    'for $g in stream("s")/r/g[@n = "x"], $u in $g/u order by $u/v return <u>{$u/v}</u>',
    'for $g in stream("s")/r/g for $u in $g/u where $u/v > 2 return <u n="{$g/@n}">{$u/v}</u>',
    'sum(for $g in stream("s")/r/g return count($g/u))',
    'max(stream("s")/r/g/count(u))',
    'stream("s")/r/g[count(u) > 1]/string(@n)',
    'some $g in stream("s")/r/g satisfies count($g/u) > 2',
    'for $g in stream("s")/r/g return (for $u in $g/u order by $u/v return $u/v)[1]',
    'for $g in stream("s")/r/g return if ($g/@n = "x") then count($g/u) else sum($g//w/v)',
    'count(stream("s")//u[v > 2]/..)',
    'count(stream("s")//u/ancestor::g)',
    'count(stream("s")//v[. > 2]/ancestor::*)',
    'exists(stream("s")//w[v > 3]/parent::s)',
    'empty(stream("s")//w/ancestor::h)',
    'count(stream("s")//u[v > 2]/ancestor::*//v)',
    'count(stream("s")//u[v > 2]/..//v)',
    'count(stream("s")//w[v > 2]/ancestor::g//u)',
)
OTHERS = (  # these may be recomputed
    'stream("s")//s/sum(w/v)',
    'for $s in stream("s")/r/g/s return <s n="{$s/../@n}">{count($s/w)}</s>',
    'for $g in stream("s")/r/g group by $n := string($g/@n) return <n>{$n, count($g/u)}</n>',
    'for $g in stream("s")/r/g, $h in stream("s")/r/h where $g/@n = $h/@n return count($g/u)',
    'stream("s")/r/g[2]/count(u)',
    'for $g in stream("s")/r/g return $g',
    'for $g in stream("s")/r/g return count($g/following-sibling::h/u)',
    'count(stream("s")/r/g)',
    'for $g in stream("s")/r/g return <n>{count($g/u), count(stream("s")//w)}</n>',
    'for $g in stream("s")/r/g return count($g/u?[2020-01-01T00:00:04, now])',
    'count(stream("s")//v/ancestor::node()//u)',
)


def at(second: int) -> str:
    return f"2020-01-01T00:00:{second:02}"


def filler(name: str, tag: int, second: int, payload: str, where: str = "") -> str:
    head = f'id="{name}" tsid="{tag}" validTime="{at(second)}"{where}'
    return f"<stream:filler {head}>{payload}</stream:filler>"


def hole(name: str, tag: int) -> str:
    return f'<stream:hole id="{name}" tsid="{tag}"/>'


def unit(name: str, second: int, value: int) -> str:
    """Names say where a unit may stand: in g, in s, or in h."""
    tag, element = {"u": (3, "u"), "w": (6, "w"), "e": (9, "u")}[name[0]]
    return filler(name, tag, second, f'<{element} id="{name}"><v>{value}</v></{element}>')


NAMES = {"u": ("u1", "u2", "u3", "u4"), "w": ("w1", "w2"), "e": ("e1", "e2")}


@st.composite
def roots(draw, second: int) -> str:
    """The root with some elements, in any order, and its holes in any of them."""
    free = {kind: list(draw(st.permutations(names))) for kind, names in NAMES.items()}

    def some(kind: str, tag: int) -> str:
        count = draw(st.integers(0, min(3, len(free[kind]))))
        return "".join(hole(free[kind].pop(), tag) for _ in range(count))

    parts = []
    for _ in range(draw(st.integers(0, 4))):
        label = draw(st.sampled_from(("", ' n="x"', ' n="y"')))
        if draw(st.booleans()):
            inner = f"<s>{some('w', 6)}</s>" if draw(st.booleans()) else ""
            parts.append(f"<g{label}>{some('u', 3)}{inner}{some('u', 3)}</g>")
        else:
            parts.append(f"<h{label}>{some('e', 9)}</h>")
    return filler("0", 1, second, f"<r>{''.join(parts)}</r>")


@st.composite
def arrivals(draw) -> list[str]:
    wire = [draw(roots(0))]
    for second in range(1, draw(st.integers(2, 14))):
        name = draw(st.sampled_from([one for names in NAMES.values() for one in names]))
        match draw(st.integers(0, 8)):
            case 0:
                wire.append(draw(roots(second)))
            case 1:
                tag = {"u": 3, "w": 6, "e": 9}[name[0]]
                wire.append(f'<stream:remove id="{name}" tsid="{tag}" validTime="{at(second)}"/>')
            case _:
                when = draw(st.integers(1, second))
                wire.append(unit(name, when, draw(st.integers(0, 5))))
    first = draw(st.integers(0, 3))  # units may come before the root
    return [*wire[1:first], wire[0], *wire[max(first, 1) :]]


@settings(deadline=None, max_examples=examples(300))
@given(st.sampled_from(ROWS + OTHERS), arrivals(), st.integers(0, 14))
def test_the_answer_is_the_query_asked_afresh(query, wire, restart):
    following = Watched(query)
    following.feed("s", STRUCTURE.encode())
    for step, chunk in enumerate(wire):
        following.feed("s", chunk.encode())
        assert following.told.items() == following.afresh()
        if step == restart:
            following.restart()


@pytest.mark.parametrize("query", ROWS)
def test_they_are_circuits(query):
    following = Watched(query)
    following.feed("s", STRUCTURE.encode())
    following.feed("s", filler("0", 1, 0, f"<r><g>{hole('u1', 3)}</g></r>").encode())
    assert isinstance(following.watch.pipeline, CircuitRun)
    assert not following.watch.pipeline.circuit.whole


@pytest.mark.parametrize("query", ROWS)
def test_one_more_unit_is_one_row(query):
    following = Watched(query)
    holes = "".join(hole(f"u{i}", 3) for i in range(60))
    first = filler("0", 1, 0, f'<r><g n="x">{holes}</g><g>{hole("v1", 3)}</g></r>')
    units = "".join(unit(f"u{i}", 1, i % 5) for i in range(50))
    following.feed("s", (STRUCTURE + first + units).encode())
    run = following.watch.pipeline
    assert isinstance(run, CircuitRun)
    before = run.evaluated
    following.feed("s", unit("u55", 2, 4).encode())
    assert following.told.items() == following.afresh()
    assert run.evaluated - before <= 1  # none where it cannot be seen
