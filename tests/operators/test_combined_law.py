"""The law for features together: joins, windows, folds inside units, declared streams, time."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operators.combined import Combined, Feeds
from xstreamcast.errors import Error

QUERIES = (
    'for $a in stream("bank")//account where sum($a/paid/sum) > 5 return <m>{$a/@n, '
    'stream("shops")//shop[name = $a/paid/to]/@n/string()}</m>',
    'for $a in stream("bank")//account, $s in stream("shops")//shop where $a/owner = '
    '$s/name return <p n="{$a/@n}" sum="{sum($a/paid/sum)}" s="{$s/@n}" '
    'c="{count($a/paid)}">{$s/stars?[now]}</p>',
    'for $a in stream("bank")//account?[now], $s in stream("shops")//shop?[now] where '
    '$a/owner = $s/name and sum($a/paid?[now - PT20M, now]/sum) > 3 return <p '
    'n="{$a/@n}" s="{$s/@n}"/>',
    'for $p in stream("bank")//paid, $s in stream("shops")//shop where $p/to = $s/name '
    'order by $p/sum descending, $s/@n return <o n="{$p/@n}" '
    's="{$s/@n}">{$p/sum/text()}</o>',
    'for tumbling window $w in (for $p in stream("bank")//paid, $s in '
    'stream("shops")//shop where $p/to = $s/name return <o>{$p/sum/text()}</o>) start at '
    '$i when true() end at $j when $j - $i eq 1 return <w>{sum($w)}</w>',
    'for tumbling window $w in stream("day")/day/temp start $s at $i when true() end at '
    '$j when $j - $i eq 2 return <w>{avg($w), stream("shops")//shop[name = '
    '$w/@who]/@n/string()}</w>',
    'for sliding window $w in stream("day")/day/temp start $s when true() only end $e '
    'when $e/@at - $s/@at ge 2 return <w>{$w/@at/string()}</w>',
    'declare stream hot := for $p in stream("bank")//paid?[now - PT30M, now] where '
    '$p/sum >= 4 return <hot n="{$p/@n}">{$p/to/text()}</hot>; for tumbling window $w in '
    'stream("hot")/answer/hot start when true() end at $j when $j mod 2 = 0 return '
    '<w>{$w/@n/string(), count($w)}</w>',
    'declare stream hot := for $p in stream("bank")//paid where $p/status?[now] = "ok" '
    'return <hot n="{$p/@n}"><to>{$p/to/text()}</to></hot>; declare stream good := for '
    '$s in stream("shops")//shop?[now] where $s/stars >= 4 return <good>{$s/name, '
    '$s/@n}</good>; for $h in stream("hot")/answer/hot, $g in stream("good")/answer/good '
    'where $h/to = $g/name order by $g/@n, $h/@n descending return <x>{$h/@n, '
    '$g/name}</x>',
    'declare stream t := for $a in stream("bank")//account?[now] return <t '
    'n="{$a/@n}">{sum($a/paid/sum)}</t>; (max(stream("t")/answer/t/xs:double(.)), '
    'count(stream("t")/answer/t), for $t in stream("t")/answer/t order by xs:double($t) '
    'descending return string($t/@n))',
    'for $a in stream("bank")//account group by $o := string($a/owner) return <g '
    'o="{$o}" n="{count($a)}" s="{sum($a/paid/sum)}">{stream("shops")//shop[name = '
    '$o]/stars?[now]}</g>',
    'for $t in stream("day")//temp where $t/@who = stream("shops")//shop?[now]/name '
    'return $t',
    'for $t in stream("day")//temp let $a := stream("bank")//account?[now][owner = '
    '$t/@who] where exists($a) return <r at="{$t/@at}">{sum($a/paid/sum), '
    '$a/limit?[now]/text()}</r>',
    'for $s in stream("shops")//shop?[now] return <s '
    'n="{$s/@n}">{sum(stream("bank")//paid[to = $s/name]/sum), '
    'avg(stream("day")//temp[@who = $s/name])}</s>',
    'some $a in stream("bank")//account?[now] satisfies sum($a/paid/sum) > '
    '$a/limit?[now]',
    'stream("bank")//account/limit?[now]',
    'stream("bank")//account?[now]/paid[status?[now] = "ok"]',
    'for $a in stream("bank")//account where every $p in $a/paid satisfies '
    '$p/status?[now] = "ok" return <a>{$a/@n, $a/limit#[last]/text()}</a>',
    'for $p in stream("bank")//paid?[now - PT10M, now] return <p>{$p/@n, vtFrom($p), '
    'stream("shops")//shop?[vtFrom($p)][name = $p/to]/@n/string()}</p>',
    'distinct-values(for $p in stream("bank")//paid, $s in stream("shops")//shop where '
    '$p/to = $s/name return $s/stars)',
    '(for $p in stream("bank")//paid order by $p/sum return string($p/sum))[position() '
    '<= 2]',
    'for $a in stream("bank")//account let $x := $a/paid[to = '
    'stream("shops")//shop?[now]/name] where count($x) >= 1 return <a '
    'n="{$a/@n}">{sum($x/sum)}</a>',
    'for $s in stream("shops")//shop where $s/stars?[now] > avg(stream("day")//temp) '
    'return $s',
    'for $p in stream("bank")//paid for tumbling window $w in stream("day")//temp start '
    '$s when $s/@who = $p/to end $e when $e/@who != $p/to return <w '
    'p="{$p/@n}">{$w/@at/string()}</w>',
    'for $l in stream("bank")//limit, $s in stream("shops")//stars where $l overlaps $s '
    'return <o>{$l/text(), $s/text()}</o>',
    'forseq $w in stream("day")/day/temp sliding window start curItem $s when $s > 3 end '
    'curItem $e when $e/@who eq $s/@who return <w>{$w/@at/string()}</w>',
    'declare stream w := for tumbling window $w in stream("day")/day/temp start at $i '
    'when true() end at $j when $j - $i eq 1 return <w who="{$w[1]/@who}">{sum($w)}</w>; '
    'for $a in stream("bank")//account, $w in stream("w")/answer/w where $a/owner = '
    '$w/@who return <r n="{$a/@n}" m="{sum($a/paid/sum)}">{$w/text()}</r>',
    'count(stream("bank")//paid[status?[now] = "ok"]) + '
    'count(stream("shops")//shop?[now]) + count(stream("day")//temp)',
    'for $a in stream("bank")//account order by sum($a/paid/sum) descending, $a/@n '
    'return <a n="{$a/@n}">{count($a/paid?[now - PT5M,now])}</a>',
    'for $a in stream("bank")//account?[now] where not($a/owner = '
    'stream("shops")//shop?[now]/name) return <a>{$a/@n, exists($a/paid), '
    'min($a/paid/sum)}</a>',
    'for $a in stream("bank")//account, $p in $a/paid, $s in stream("shops")//shop where '
    '$p/to = $s/name group by $n := string($s/@n) order by $n return <g '
    'n="{$n}">{sum($p/sum), count(distinct-values($a/@n))}</g>',
    'for $t in stream("day")//temp group by $w := string($t/@who) return <g w="{$w}" '
    'a="{avg($t)}">{for $s in stream("shops")//shop where $s/name = $w return '
    '$s/@n/string()}</g>',
)  # fmt: skip

FEW = settings(deadline=None, max_examples=max(1, settings().max_examples // 5))


def play(asked, feeds, policy):
    """Feed all; at every instant what is told is what `run` says, if it may tell at once."""
    running = Combined(asked, policy)
    for name, chunk in feeds.arrivals():
        running.feed(name, chunk)
        running.tick()
        yield running
    running.end()
    yield running


def ended(asked, feeds, policy):
    """What was told at the end; None where the query fails."""
    try:
        *_, last = play(asked, feeds, policy)
    except Error:
        return None
    return last.told.items()


@FEW
@given(st.sampled_from(QUERIES), st.integers(0, 10**6), st.data())
def test_what_is_told_adds_up_to_what_run_says(asked, seed, data):
    try:
        for running in play(asked, Feeds(seed), "optimistic"):
            if data.draw(st.integers(0, 2)) == 0:
                expected = running.afresh()
                if expected is not None:
                    assert running.told.items() == expected
    except Error:
        assert running.afresh() is None


@FEW
@given(st.sampled_from(QUERIES), st.integers(0, 10**6))
def test_both_policies_end_with_what_run_says(asked, seed):
    answers = [ended(asked, Feeds(seed), policy) for policy in ("strict", "optimistic")]
    assert answers == [Combined.whole(asked, Feeds(seed))] * 2
