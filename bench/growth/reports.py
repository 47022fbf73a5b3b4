"""Reports that people leave running: rows at several levels, rows of rows, functions, journeys."""

from bench.growth.entry import Entry, Quiet
from bench.growth.readings import CLICK, CLICKS, ENTRY, LOG
from bench.growth.shop import CUSTOMER, ORDER, ORDERS, SALES
from bench.growth.streams import Streams, Unit

O = 'stream("orders")/orders/order'  # noqa: E741 - it stands in every text
C = 'stream("customers")/customers/customer'
V = 'stream("s")/r/v'

# One stream of orders.
OF_ORDERS = (
    ("top two ties at most", "the two largest orders of each region, and what equals them",
     f"""for $o in {O} group by $r := $o/@region order by $r
let $bound := (for $a in $o/amount/xs:decimal(.) order by $a descending return
$a)[2]
return <top r="{{$r}}">{{ for $x in $o where xs:decimal($x/amount) ge $bound order
by xs:decimal($x/amount) descending return $x/@id/string() }}</top>"""),
    ("percent having", "products with more than a twentieth of the total",
     f"""let $all := sum({O}/amount/xs:decimal(.))
return for $o in {O} group by $p := $o/product let $share :=
sum($o/amount/xs:decimal(.)) div $all where $share > 0.05
order by $share descending, $p return <p n="{{$p}}">{{ round($share * 100, 2) }}</p>"""),
    ("pareto", "which products make four fifths of the total",
     f"""let $t := for $o in {O} group by $p := $o/product let $s :=
sum($o/amount/xs:decimal(.)) order by $s descending, $p return <t p="{{$p}}">{{ $s
}}</t>
let $all := sum($t)
for $x at $i in $t return <p n="{{$x/@p}}">{{ sum($t[position() <=
$i]/xs:decimal(.)) >= 0.8 * $all }}</p>"""),
    ("regions deviation", "mean deviation of each region, in one pass",
     f"""for $o in {O} group by $r := $o/@region let $v := $o/amount/number(.) let $n :=
count($v) let $m := avg($v)
order by $r return <dev r="{{$r}}" n="{{$n}}">{{ round(math:sqrt(sum($v ! (. * .))
div $n - $m * $m), 2) }}</dev>"""),
    ("pivot by map", "totals of some products in a row for each region",
     f"""for $o in {O} group by $r := $o/@region
let $m := map:merge(for $x in $o group by $p := string($x/product) return map {{ $p
: sum($x/amount/xs:decimal(.)) }})
order by $r return <row r="{{$r}}" p1="{{$m?p1}}" p2="{{$m?p2}}"
n="{{map:size($m)}}"/>"""),
    ("report levels", "regions, their products and orders, with totals at each level",
     f"""<report total="{{ sum({O}/amount/xs:decimal(.)) }}">{{ for $o in {O} group by $r :=
$o/@region order by $r
return <region name="{{$r}}" n="{{count($o)}}">{{ for $x in $o group by $p :=
$x/product let $s := sum($x/amount/xs:decimal(.)) order by $s descending, $p
return <product name="{{$p}}" sum="{{$s}}">{{ for $y in $x order by $y/@id return
<o>{{ $y/@id/string() }}</o> }}</product> }}</region> }}</report>"""),
    ("region elements levels", "products of each region that were ordered twice, with their share",
     f"""for $o in {O} group by $r := $o/@region order by $r
return <region name="{{$r}}" n="{{count($o)}}"
max="{{ max($o/amount/xs:decimal(.)) }}">{{ for $x in $o group by $p := $x/product
let $s := sum($x/amount/xs:decimal(.)) where count($x) > 1 order by $s descending,
$p
return <product name="{{$p}}"
share="{{ round($s div sum($o/amount/xs:decimal(.)), 3) }}"/> }}</region>"""),
    ("groups every", "products all of whose orders are large",
     f"""for $o in {O} group by $p := $o/product where every $x in $o satisfies $x/amount >
100 order by $p return string($p)"""),
    ("json document", "one JSON document with an object for each region",
     f"""serialize(map {{ "regions": array {{ for $o in {O} group by $r := string($o/@region)
order by $r
return map {{ "name": $r, "n": count($o), "top": max($o/amount/xs:decimal(.)) }} }}
}}, map {{ "method": "json" }})"""),
    ("join ordered strings", "orders of each product, the largest first, in one string",
     f"""for $o in {O} group by $p := $o/product order by $p
return <p n="{{$p}}">{{ string-join(for $x in $o order by xs:decimal($x/amount)
descending return $x/@id, ",") }}</p>"""),
    ("switch sum", "totals of classes of products",
     f"""for $o in {O} let $k := switch ($o/product) case "p1" case "p2" return "hot" case
"p3" return "warm" default return "cold"
group by $k order by $k return <k n="{{$k}}">{{ count($o),
sum($o/amount/xs:decimal(.)) }}</k>"""),
    ("function by parameter", "a function that groups by a function and folds by another",
     f"""declare function local:by($items, $key as function(*), $agg as function(*)) {{ for
$i in $items group by $k := $key($i) order by $k return <g k="{{$k}}">{{ $agg($i)
}}</g> }};
local:by({O}, function($o) {{ string($o/@region) }}, function($g) {{
sum($g/amount/xs:decimal(.)) }})"""),
    ("function named reference", "how many orders a declared function chooses",
     f"""declare function local:large($o) {{ $o/amount > 9000 }};
count(filter({O}, local:large#1))"""),
    ("partial application", "orders above a limit that is fixed in a function",
     f"""let $over := function($limit, $o) {{ xs:decimal($o/amount) > $limit }} let $big :=
$over(9000, ?)
return {O}[$big(.)]/@id/string()"""),
    ("arrow chain", "the three largest orders of a region, by functions only",
     f"""{O} => filter(function($o) {{ $o/@region = "r1" }}) => for-each(function($o) {{
xs:decimal($o/amount) }}) => sort() => reverse() => subsequence(1, 3)"""),
    ("window over groups", "moving average of three totals of ten minutes",
     f"""let $d := for $o in {O} group by $h := substring($o/@at, 1, 15) order by $h return
<h at="{{$h}}">{{ sum($o/amount/xs:decimal(.)) }}</h>
for sliding window $w in $d start at $s when true() only end at $e when $e - $s = 2
return <m at="{{$w[3]/@at}}">{{ round(avg($w/xs:decimal(.)), 2) }}</m>"""),
    ("window over windows", "changes between sums of five orders in a row",
     f"""let $tens := for tumbling window $w in {O} start at $s when true() end at $e when $e
- $s = 4 return <t>{{ sum($w/amount/xs:decimal(.)) }}</t>
for sliding window $x in $tens start at $s when true() only end at $e when $e - $s =
1 return xs:decimal($x[2]) - xs:decimal($x[1])"""),
    ("distinct per window", "different customers and products of each hour",
     f"""for tumbling window $w in {O} start $s when true() end next $n when
substring($n/@at, 1, 13) ne substring($s/@at, 1, 13)
return <h at="{{substring($s/@at, 1, 13)}}"
customers="{{count(distinct-values($w/@customer))}}"
products="{{count(distinct-values($w/product))}}"/>"""),
    ("median per window", "the median of each nine orders in a row",
     f"""for tumbling window $w in {O} start at $s when true() end at $e when $e - $s = 8
return sort($w/amount/xs:decimal(.))[5]"""),
    ("rising runs", "three orders or more that rise",
     f"""for tumbling window $w in {O} start when true() end $e next $n when
xs:decimal($n/amount) < xs:decimal($e/amount) where count($w) >= 3 return <run
from="{{$w[1]/@id}}" n="{{count($w)}}"/>"""),
    ("ratio of counts", "products more than half of whose orders are repetitions",
     f"""for $o in {O} group by $p := $o/product let $r := count($o[@again]) div count($o)
where $r > 0.5 order by $r descending, $p return <p n="{{$p}}">{{ round($r, 3)
}}</p>"""),
    ("group by computed two", "large and small orders by the hour",
     f"""for $o in {O} let $h := hours-from-dateTime(xs:dateTime($o/@at)) group by $h, $big
:= $o/amount > 5000 order by $h, $big return <g h="{{$h}}" big="{{$big}}">{{
count($o) }}</g>"""),
    ("empty groups", "orders of each hour, none included",
     f"""for $h in 0 to 6 let $o := {O}[hours-from-dateTime(xs:dateTime(@at)) = $h] return <h
n="{{$h}}">{{ count($o), sum($o/amount/xs:decimal(.)) }}</h>"""),
    ("last n and total", "the last five orders and their total",
     f"""let $last := {O}[position() > last() - 5] return <last n="{{count($last)}}">{{
sum($last/amount/xs:decimal(.)), $last/@id/string() }}</last>"""),
    ("weighted mean", "a weighted mean for each region",
     f"""for $o in {O} group by $r := $o/@region order by $r return <w r="{{$r}}">{{
round(sum($o/(xs:decimal(amount) * (1 + string-length(product)))) div sum($o/(1 +
string-length(product))), 3) }}</w>"""),
    ("group of window", "windows of four orders by the number of their regions",
     f"""for tumbling window $w in {O} start at $s when true() end at $e when $e - $s = 3
group by $k := count(distinct-values($w/@region)) order by $k return <k
n="{{$k}}">{{ count($w) }}</k>"""),
    ("argmax per group", "the largest order of each region and its product",
     f"""for $o in {O} group by $r := $o/@region order by $r return <best r="{{$r}}">{{ (for
$x in $o order by xs:decimal($x/amount) descending, $x/@id return $x)[1]/(@id,
product)/string() }}</best>"""),
)  # fmt: skip

# Orders and their customers.
OF_SALES = (
    ("latest joined", "the last order of each customer with the name, by a join",
     f"""for $o in {O} group by $c := $o/@customer let $last := $o[last()]
for $k in {C} where $k/@id = $c order by $c return <l c="{{$c}}"
name="{{$k/name}}">{{ $last/@id/string() }}</l>"""),
    ("outer join sums", "four figures of each customer's orders, or none",
     f"""for $c in {C} let $o := {O}[@customer = $c/@id] order by $c/@id
return <c id="{{$c/@id}}" n="{{count($o)}}" sum="{{sum($o/amount/xs:decimal(.))}}"
max="{{max($o/amount/xs:decimal(.))}}"
avg="{{round(avg($o/amount/xs:decimal(.)), 2)}}"/>"""),
    ("full outer", "ids of customers and orders of either side",
     f"""for $id in distinct-values(({C}/@id, {O}/@customer)) order by $id
return <k id="{{$id}}" c="{{count({C}[@id = $id])}}"
o="{{count({O}[@customer = $id])}}"/>"""),
    ("anti both", "orders without a customer, and customers without an order",
     f"""({O}[not(@customer = {C}/@id)]/@id/string(), {C}[not(@id =
{O}/@customer)]/@id/string())"""),
    ("allowing empty group", "orders of each segment by an outer join",
     f"""for $c in {C} for $o allowing empty in {O}[@customer = $c/@id] group by $s :=
$c/segment order by $s return <s n="{{$s}}">{{ count($o), count($c) }}</s>"""),
    ("window over join", "moving average of the orders of a segment",
     f"""for sliding window $w in (for $o in {O}, $c in {C} where $o/@customer = $c/@id and
$c/segment = "s1" return <x a="{{$o/amount}}"/>)
start at $s when true() only end at $e when $e - $s = 2 return <m>{{
avg($w/@a/xs:decimal(.)) }}</m>"""),
    ("constructed join", "rows of a join that are made first, then grouped",
     f"""let $rows := for $o in {O}, $c in {C}[@id = $o/@customer] return <row
s="{{$c/segment}}" a="{{$o/amount}}"/>
for $r in $rows group by $s := $r/@s order by $s return <s n="{{$s}}">{{
sum($r/@a/xs:decimal(.)) }}</s>"""),
    ("typed union", "large orders and customers with small limits, by their kind",
     f"""for $x in ({O}, {C}) return typeswitch ($x) case element(order) return if ($x/amount
> 9000) then <o>{{ $x/@id }}</o> else () case element(customer) return if ($x/limit
< 1000) then <c>{{ $x/@id }}</c> else () default return ()"""),
    ("function of two streams", "classes of customers by a function of their orders",
     f"""declare function local:total($c) {{ sum({O}[@customer =
$c/@id]/amount/xs:decimal(.)) }};
declare function local:class($t) {{ if ($t > 20000) then "gold" else if ($t > 0)
then "some" else "none" }};
for $c in {C} group by $k := local:class(local:total($c)) order by $k return <k
n="{{$k}}">{{ count($c) }}</k>"""),
)  # fmt: skip

# What users did, one entry each.
OF_LOGS = (
    ("funnel windows", "for each visit of a user, whether something was bought",
     f"""for $v in {V} group by $u := $v/user order by $u return <u n="{{$u}}">{{ for
tumbling window $w in $v start $a when $a/op = "login" end $e when $e/op = "logout"
return if ($w/op = "buy") then "bought" else "left" }}</u>"""),
    ("last action", "users by what they did last",
     f"""for $v in {V} group by $u := $v/user group by $op := $v[last()]/op/string() order by
$op return <op n="{{$op}}">{{ count($u) }}</op>"""),
    ("transitions", "how often an action follows another",
     f"""for $t in (for $v in {V} group by $u := $v/user return for sliding window $w in $v
start at $s when true() only end at $e when $e - $s = 1 return concat($w[1]/op, ">",
$w[2]/op)) group by $k := $t order by $k return <t n="{{$k}}">{{ count($t) }}</t>"""),
)  # fmt: skip

# Clicks with their times.
OF_CLICKS = (
    ("sessions per user", "visits of each user, parted by half an hour",
     f"""for $v in {V} group by $u := $v/@user order by $u return <u n="{{$u}}">{{
for tumbling window $w in $v start when true() end $e next $n when
xs:dateTime($n/@t) - xs:dateTime($e/@t) > xs:dayTimeDuration("PT30M")
return <s from="{{$w[1]/@t}}" n="{{count($w)}}">{{ sum($w) }}</s> }}</u>"""),
    ("gaps of users", "the longest pause of each user",
     f"""for $v in {V} group by $u := $v/@user order by $u return <u n="{{$u}}">{{ max(for
sliding window $w in $v start $a at $i when true() only end $b at $j when $j - $i =
1 return xs:dateTime($b/@t) - xs:dateTime($a/@t)) }}</u>"""),
)  # fmt: skip

# What a change of one kind leaves as it is.
_QUIET: dict[str, Quiet] = {
    "groups every": "correction",
    "arrow chain": "correction",
    "ratio of counts": "correction",
    "last n and total": "correction",
    "outer join sums": "correction",
    "full outer": "correction",
    "anti both": "correction",
    "function of two streams": "correction",
    "funnel windows": "new",
    "last action": "correction",
}


def _entries(
    texts: tuple[tuple[str, str, str], ...], streams: Streams, new: Unit, fix: Unit
) -> tuple[Entry, ...]:
    return tuple(
        Entry(f"report {name}", what, text, streams, new, fix, quiet=_QUIET.get(name, ""))
        for name, what, text in texts
    )


REPORTS = (
    *_entries(OF_ORDERS, ORDERS, ORDER, ORDER),
    *_entries(OF_SALES, SALES, ORDER, CUSTOMER),
    *_entries(OF_LOGS, LOG, ENTRY, ENTRY),
    *_entries(OF_CLICKS, CLICKS, CLICK, CLICK),
)
