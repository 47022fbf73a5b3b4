"""The queries of the papers, corrected where they break XQuery's own rules."""

from __future__ import annotations

import pytest

from xstreamcast.syntax import parse, print_module

QUERIES = {
    "misbehaving packets": """
        for $s in stream("gsyn")//packet
        where not(some $a in stream("ack")//packet?[vtFrom($s)+PT1M,now]
                  satisfies $s/id = $a/id and $s/srcIP = $a/destIP and $s/srcPort = $a/destPort)
        return <warning>{ $s/id }</warning>""",
    "radar": """
        for $r in stream("radar1")//event,
            $s in stream("radar2")//event?[vtFrom($r)-PT1S,vtTo($r)+PT1S]
        where $r/frequency = $s/frequency
        return <position>{ triangulate($r/angle, $s/angle) }</position>""",
    "traffic lights": """
        for $v in stream("vehicle")//event,
            $r in stream("road_sensor")//event?[vtFrom($v),vtTo($v)],
            $t in stream("traffic_light")//event?[vtFrom($v),vtTo($v)]
        where distance($v/location,$r/location) < 0.1
          and distance($v/location,$t/location) < 10 and $v/type = "ambulance"
        return <set_traffic_light id="{$t/id}">
                 <status>green</status>
                 <time>{ vtFrom($t) + (distance($v/location,$t/location) div $r/speed) }</time>
               </set_traffic_light>""",
    "maxed-out accounts": """
        for $a in stream("credit")//account
        where sum($a/transaction?[2003-11-01,2003-12-01][status = "charged"]/amount)
              >= $a/creditLimit?[now]
        return <account>{ attribute id {$a/@id}, $a/customer, $a/creditLimit }</account>""",
    "fraud": """
        for $a in stream("credit")//account
        where sum($a/transaction?[now-PT1H,now][status = "charged"]/amount)
              >= max(($a/creditLimit?[now] * 0.9, 5000))
        return <alert><account id="{$a/@id}">{$a/customer}</account></alert>""",
    "charged now": """
        for $t in stream("credit")//transaction
        where $t/amount > 1000 and $t/status?[now] = "charged" return $t""",
    "ten versions": """stream("credit")//transaction[vendor="ABC Inc"]#[1,10]""",
    "annoying authors": """
        forseq $w in $rssfeed tumbling window
          start curItem $first when fn:true()
          end nextItem $lookAhead when $first/author ne $lookAhead/author
        where count($w) ge 3
        return $w[1]/author""",
    "windows of three": """
        forseq $x in $seq tumbling window
          start position $i when fn:true()
          end position $j when $j - $i eq 2
        return $x""",
    "hours": """
        forseq $w in ext:addTStamp($seq) tumbling window
          start curItem $first when fn:true()
          end curItem $last when ($last/@tstamp - $first/@tstamp) eq xs:dayTimeDuration('PT1H')
        return $w""",
    "all sub-sequences": "forseq $w in $seq return $w",
    "alarm": """
        declare variable $s as (temp)** external;
        for $m in $s where $m ge 10 return <alarm> { $m } </alarm>""",
    "moving average": """
        declare variable $seq as (xs:int)** external;
        forseq $w in $seq sliding window
          start position $s when fn:true()
          end position $e when $e - $s eq 2
        return fn:avg($w)""",
    "sessions": """
        declare variable $weblog as (entry)* external;
        for $u in fn:distinct-values($weblog/user)
        forseq $w in $weblog[user eq $u] tumbling window
          start curItem $in when $in/op eq 'login'
          end curItem $out when $out/op eq 'logout'
        return count($w)""",
    "sorting": """
        declare execution sequential;
        declare variable $seq as (xs:int)** external;
        declare variable $runMax as xs:int := 0 ;
        forseq $w in $seq sliding window
          start position $s when fn:true()
          end position $e when $e - $s eq 2
        return
          for $x in $w
          where $x gt $runMax and $x le $w[1]
          order by $x
          return { set $runMax := $x; $x}""",
    "sensor state": """
        declare variable $sensors as (temp)** external;
        forseq $w in $sensors landmark window
          start position $s when $s eq 1
          end when fn:true()
        return <values> {
          for $id in fn:distinct-values($w/@id) return $w[@id eq $id][last()]
        } </values>""",
    "forced end": """
        forseq $w in $seq landmark window
          start curItem $s when $s eq 'S'
          force end curItem $e when $e eq 'E'
        return $w""",
    "days": """
        forseq $w in $seq tumbling window
          start curItem $s when $s/@alarm, $v in $w
        return $w""".replace("when $s/@alarm", "when $s/@alarm end when newstart"),
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_a_query_of_the_papers_survives_printing(query: str) -> None:
    module = parse(query)
    assert parse(print_module(module)) == module
