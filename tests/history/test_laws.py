"""Generated histories: order of arrival, repetition, batches and strategies change nothing."""

from __future__ import annotations

from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

import xstreamcast as xsc
from tests.conftest import examples
from tests.history.telling import filler, hole, loaded, remove, seen, told
from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering import lower
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.walk import descendants
from xstreamcast.edges.binding import Binding, Options
from xstreamcast.errors import Error
from xstreamcast.evaluate.results.results import lines
from xstreamcast.rewrite.optimise import optimise
from xstreamcast.syntax import parse

QUERIES = (
    'stream("credit")//limit',
    'stream("credit")//account/limit/text()',
    'stream("credit")/accounts/account[limit > 3]/customer',
    'count(stream("credit")//charge/status)',
    'for $c in stream("credit")//charge where $c/status = "5" return <c>{$c/amount/text()}</c>',
    'stream("credit")//account?[2003-01-03,2003-01-06]',
    'stream("credit")//status?[now]',
    'stream("credit")//limit#[last]',
    'for $a in stream("credit")//account return <a>{vtFrom($a), vtTo($a/limit)}</a>',
    'let $s := stream("credit")/accounts return ($s/account/@n, $s//limit/@vtTo)',
    'stream("credit")//status/..',
    'stream("credit")//account/node()/name()',
    'stream("credit")//*[. before [2003-01-05, now]]/name()',
    'stream("credit")//text()',
    'string(stream("credit")/accounts)',
    'for $a in stream("credit")//account, $b in stream("credit")//limit where $a/limit = $b '
    "return count($a/charge)",
    '(stream("credit")//limit | stream("credit")//status)/string()',
    'stream("credit")//address//limit/string()',
    'for $x in stream("credit")//charge order by $x/amount return $x/status[1]/string()',
)

days = st.integers(1, 9).map(str)
texts = st.sampled_from(["", "1", "5", " x "])


@st.composite
def fragments(draw: st.DrawFn) -> list[str]:
    """A history with versions, removals, holes that come and go, and fragments never asked for."""
    out = [filler(0, 1, "1", f"<accounts>{hole(1, 2)} {hole(10, 2)}</accounts>")]
    for account in (1, 10):
        limit, charge, status, address = (account + n for n in range(1, 5))
        for day in draw(st.sets(days, max_size=3)):
            holes = [hole(limit, 4), hole(charge, 5), hole(address, 8)]
            kept = "".join(one + draw(texts) for one in holes if draw(st.integers(0, 3)))
            name = f"<customer>{draw(texts)}</customer>"
            out.append(
                filler(account, 2, day, f'<account n="{draw(texts)}">{name}{kept}</account>')
            )
        for day in draw(st.sets(days, max_size=3)):
            out.append(filler(limit, 4, day, f"<limit>{draw(texts)}</limit>"))
        for day in draw(st.sets(days, max_size=2)):
            inside = f"<amount>{draw(texts)}</amount>{hole(status, 6)}"
            out.append(filler(charge, 5, day, f"<charge>{inside}</charge>"))
        for day in draw(st.sets(days, max_size=3)):
            out.append(filler(status, 6, day, f"<status>{draw(texts)}</status>"))
        for day in draw(st.sets(days, max_size=2)):
            out.append(filler(address, 8, day, f"<address>{hole(limit + 1000, 4)}</address>"))
        for gone in draw(st.sets(st.sampled_from([limit, charge, status]), max_size=1)):
            out.append(remove(gone, draw(days)))
    return _one_each(out)


def _one_each(parts: list[str]) -> list[str]:
    """The last of those that share id and valid time: their order would count."""
    found = {}
    for one in parts:
        words = one.split('"')
        found[words[1], one.partition("validTime")[2].split('"')[1]] = one
    return list(found.values())


@cache
def compiled(text: str) -> xsc.Query:
    return xsc.query(text)


def answer(query: str, parts: list[str], strategy: str = "caq") -> list[str]:
    history = told(parts)
    try:
        return list(compiled(query).run(credit=history, strategy=strategy).lines())
    except Error as refused:
        return [refused.code]


@settings(max_examples=examples(60), deadline=None)
@given(fragments(), st.randoms(use_true_random=False))
def test_neither_the_order_of_arrival_nor_repetition_changes_the_view(
    parts: list[str], random: object
) -> None:
    shuffled = parts + parts[::2]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert seen(told(shuffled)) == seen(told(parts))
    assert loaded(shuffled).history.repeated == len(parts[::2])


@settings(max_examples=examples(60), deadline=None)
@given(fragments(), st.sampled_from(QUERIES), st.randoms(use_true_random=False))
def test_all_strategies_give_one_answer(parts: list[str], query: str, random: object) -> None:
    random.shuffle(parts)  # type: ignore[attr-defined]
    expected = answer(query, parts)
    for strategy in ("qac", "qac+", "auto"):
        assert answer(query, parts, strategy) == expected


@settings(max_examples=examples(40), deadline=None)
@given(fragments(), st.sampled_from(QUERIES), days)
def test_as_of_an_instant_is_the_answer_when_no_more_was_known(
    parts: list[str], query: str, day: str
) -> None:
    until = f"2003-01-0{day}"
    known = [one for one in parts if one.partition("validTime")[2].split('"')[1] <= until]
    if not known:
        return
    for strategy in ("caq", "qac+"):
        now = list(compiled(query).run(credit=told(known), as_of=until, strategy=strategy).lines())
        then = list(compiled(query).run(credit=told(parts), as_of=until, strategy=strategy).lines())
        assert then == now


PROJECTED = (
    'for $a in stream("credit")//account, $b in stream("credit")//limit?[now] '
    "where $a/limit = $b return <p>{$a/@n, $b, vtFrom($b), vtTo($b)}</p>",
    'for $a in stream("credit")//account, $b in stream("credit")//limit?[2003-01-03,2003-01-06] '
    "where $a/limit = $b return <p>{$a/@n, $b, vtFrom($b), vtTo($b)}</p>",
    'for $a in stream("credit")//account return count(stream("credit")//account'
    "?[2003-01-02,now][@n][limit = $a/limit]/charge/amount)",
    'count((for $a in stream("credit")//account, $b in stream("credit")//limit?[now] '
    "where $a/limit = $b return $b)/.)",
    'for $a in stream("credit")//account, $b in stream("credit")//account?[2003-01-05] '
    "where $a/@n = $b/@n return <p>{$b, vtFrom($b), vtTo($b/limit), $b/charge?[now]}</p>",
)


@settings(max_examples=examples(60), deadline=None)
@given(fragments(), st.sampled_from(PROJECTED))
def test_a_join_with_a_projection_gives_what_pairs_by_pairs_give(parts: list[str], query: str):
    """Copies that are made once and copied again are the copies that each pair would have made."""
    module = parse(query)
    plain, joined = lower(module), optimise(lower(module))
    assert any(isinstance(node, p.TupleJoin) for node in descendants(joined.body))
    assert _evaluated(joined, parts) == _evaluated(plain, parts)


def _evaluated(program: Program, parts: list[str]) -> list[str]:
    binding = Binding(program, {"credit": told(parts)}, Options(strategy="caq"))
    try:
        return list(lines(binding.store, binding.run(None)))
    except Error as refused:
        return [refused.code]
