"""What dashboards show: groups, orders, first places, totals, distinct values, quantiles."""

from bench.growth.entry import Entry
from bench.growth.shop import MOVES, ORDER, ORDERS, REPEATED, RETURN

O = 'stream("orders")/orders/order'  # noqa: E741 - it stands in every text

TOTALS = (
    ("group count", "orders of each region, counted",
     f"""for $o in {O} group by $r := $o/@region order by $r
return <region name="{{ $r }}">{{ count($o) }}</region>"""),
    ("group ordered by total", "regions, the largest total first",
     f"""for $o in {O} group by $r := $o/@region
let $sum := sum($o/amount/xs:decimal(.)) order by $sum descending
return <region name="{{ $r }}">{{ $sum }}</region>"""),
    ("group having", "totals of customers above a bound, ordered",
     f"""for $o in {O} group by $c := $o/@customer
let $sum := sum($o/amount) where $sum > 20000 order by $sum descending, $c
return <customer id="{{ $c }}">{{ $sum }}</customer>"""),
    ("group two keys", "orders of each region and product",
     f"""for $o in {O} group by $r := $o/@region, $p := $o/product order by $r, $p
return <cell region="{{ $r }}" product="{{ $p }}">{{ count($o) }}</cell>"""),
    ("group minimum maximum", "the smallest and largest order of each region",
     f"""for $o in {O} group by $r := $o/@region order by $r
let $v := $o/amount/xs:decimal(.)
return <region name="{{ $r }}" from="{{ min($v) }}" to="{{ max($v) }}"/>"""),
    ("group average", "the mean order of each product",
     f"""for $o in {O} group by $p := $o/product order by $p
return <product name="{{ $p }}">{{ avg($o/amount/xs:decimal(.)) }}</product>"""),
    ("group histogram", "how many orders there are of each size",
     f"""for $o in {O} group by $b := xs:decimal($o/amount) idiv 1000 order by $b
return <bucket from="{{ $b * 1000 }}">{{ count($o) }}</bucket>"""),
    ("group days", "the total of each day",
     f"""for $o in {O} group by $d := substring($o/@at, 1, 10) order by $d
return <day date="{{ $d }}">{{ sum($o/amount/xs:decimal(.)) }}</day>"""),
    ("group list", "the ids of each customer's orders",
     f"""for $o in {O} group by $c := $o/@customer order by $c
return <customer id="{{ $c }}">{{ string-join($o/@id, " ") }}</customer>"""),
    ("group share", "each region's share of the total",
     f"""let $all := sum({O}/amount/xs:decimal(.))
return for $o in {O} group by $r := $o/@region order by $r
return <share region="{{ $r }}">{{ sum($o/amount/xs:decimal(.)) div $all }}</share>"""),
    ("group of groups", "customers by the number of their orders",
     f"""for $n in (for $o in {O} group by $c := $o/@customer return count($o))
group by $k := $n order by $k return <orders number="{{ $k }}">{{ count($n) }}</orders>"""),
    ("group distinct", "different customers of each region",
     f"""for $o in {O} group by $r := $o/@region order by $r
return <region name="{{ $r }}">{{ count(distinct-values($o/@customer)) }}</region>"""),
    ("group median", "the median order of each region",
     f"""for $o in {O} group by $r := $o/@region order by $r
let $s := sort($o/amount/xs:decimal(.))
return <median region="{{ $r }}">{{
  avg($s[position() = ((count($s) + 1) idiv 2, count($s) idiv 2 + 1)]) }}</median>"""),
    ("top per group", "the three largest orders of each region",
     f"""for $o in {O} group by $r := $o/@region order by $r
return <top region="{{ $r }}">{{
  (for $x in $o order by xs:decimal($x/amount) descending, $x/@id
   return <order>{{ $x/@id, $x/amount/text() }}</order>)[position() <= 3]
}}</top>"""),
    ("top of all", "the three largest orders",
     f"""(for $o in {O} order by xs:decimal($o/amount) descending, $o/@id
return <order>{{ $o/@id, $o/amount/text() }}</order>)[position() <= 3]"""),
    ("top by count clause", "ranks of the ten largest orders",
     f"""for $o in {O} order by xs:decimal($o/amount) descending, $o/@id count $rank
where $rank <= 10 return <order rank="{{ $rank }}">{{ string($o/@id) }}</order>"""),
    ("ordered page", "the second ten of the largest orders",
     f"""subsequence(for $o in {O} order by xs:decimal($o/amount) descending, $o/@id
return <order>{{ $o/@id }}</order>, 11, 10)"""),
    ("ordered report", "all large orders, ordered, in one element",
     f"""<report>{{ for $o in {O}[amount >= 20000] order by xs:decimal($o/amount), $o/@id
return <order>{{ $o/@id }}</order> }}</report>"""),
    ("ordered all", "all orders by amount",
     f"""for $o in {O} order by xs:decimal($o/amount), $o/@id
return <order>{{ $o/@id }}</order>"""),
    ("distinct count", "how many customers have ordered",
     f"""count(distinct-values({O}/@customer))"""),
    ("distinct products", "products that were ordered for more than 20,000",
     f"""for $p in distinct-values({O}[amount > 20000]/product) order by $p return $p"""),
    ("percentile", "the amount that nine of ten orders do not exceed",
     f"""let $s := sort({O}/amount/xs:decimal(.))
return $s[xs:integer(ceiling(0.9 * count($s)))]"""),
    ("above average", "orders of more than three times the mean",
     f"""let $mean := avg({O}/amount/xs:decimal(.))
for $o in {O} where xs:decimal($o/amount) > 3 * $mean return <order>{{ $o/@id }}</order>"""),
    ("running total per customer", "what each customer had ordered by each order",
     f"""for $o in {O} group by $c := $o/@customer order by $c
return <customer id="{{ $c }}">{{
  for $x at $i in $o return <by>{{ sum($o[position() <= $i]/amount/xs:decimal(.)) }}</by>
}}</customer>"""),
)  # fmt: skip

# Windows, groups and functions inside of each other.
NESTED = (
    ("group in group", "orders of each product within each region",
     f"""for $o in {O} group by $r := $o/@region order by $r
return <region name="{{ $r }}">{{
  for $x in $o group by $p := $x/product order by $p
  return <product name="{{ $p }}">{{ count($x) }}</product>
}}</region>"""),
    ("window in group", "the largest mean of five orders in a row of a region",
     f"""max(for $o in {O} group by $r := $o/@region
return for sliding window $w in $o start at $s when true() only end at $e when $e - $s = 4
return avg($w/amount/xs:decimal(.)))"""),
    ("session in group", "how much customers order without a break of half an hour",
     f"""sum(for $o in {O} group by $c := $o/@customer
return for tumbling window $w in $o start $s when true()
  end $e next $n when xs:dateTime($n/@at) - xs:dateTime($e/@at) > xs:dayTimeDuration("PT30M")
return count($w) * sum($w/amount/xs:decimal(.)))"""),
    ("function each", "a total by a function for each order",
     f"""sum(for-each({O}, function($o as element()) {{ 2 * xs:decimal($o/amount) }}))"""),
    ("function filter", "orders by a function that is a variable",
     f"""let $large := function($o) {{ $o/amount > 20000 }}
return count(filter({O}, $large))"""),
    ("function sort", "the three largest orders by a function of their own",
     f"""sort({O}, (), function($o) {{ -number($o/amount) }})[position() <= 3]/@id/string()"""),
    ("map of groups", "totals of regions in a map, read by key",
     f"""let $totals := map:merge(for $o in {O} group by $r := string($o/@region)
  return map:entry($r, sum($o/amount/xs:decimal(.))))
for $r in map:keys($totals) order by $r
return <region name="{{ $r }}">{{ $totals($r) }}</region>"""),
)  # fmt: skip

GROUPS = (
    *(Entry(name, what, text, ORDERS, ORDER, ORDER) for name, what, text in NESTED),
    *(Entry(name, what, text, ORDERS, ORDER, ORDER) for name, what, text in TOTALS),
    Entry(
        "group maximum of sums", "the largest total of a customer",
        f"""max(for $o in {O} group by $c := $o/@customer
return sum($o/amount/xs:decimal(.)))""",
        ORDERS, REPEATED, REPEATED,
    ),
    Entry(
        "top of groups", "the three customers with the largest totals",
        f"""(for $o in {O} group by $c := $o/@customer
let $sum := sum($o/amount/xs:decimal(.)) order by $sum descending, $c
return <customer id="{{ $c }}">{{ $sum }}</customer>)[position() <= 3]""",
        ORDERS, REPEATED, REPEATED,
    ),
    Entry(
        "group frequent", "customers with nine orders or more",
        f"""for $o in {O} group by $c := $o/@customer where count($o) >= 9 order by $c
return <often>{{ $c }}</often>""",
        ORDERS, REPEATED, REPEATED,
    ),
    Entry(
        "group count of groups", "how many customers have nine orders or more",
        f"""count(for $o in {O} group by $c := $o/@customer where count($o) >= 9 return $c)""",
        ORDERS, REPEATED, REPEATED,
    ),
    Entry(
        "latest per key", "the last order of each customer",
        f"""for $o in {O} group by $c := $o/@customer order by $c
return <last customer="{{ $c }}">{{ $o[last()]/amount/text() }}</last>""",
        ORDERS, ORDER, ORDER, place="last",
    ),
    Entry(
        "first and last", "the first and the last order",
        f"""<ends>{{ ({O})[1]/amount/string(), ({O})[last()]/amount/string() }}</ends>""",
        ORDERS, ORDER, ORDER, place="first",
    ),
    Entry(
        "running total", "the total by each order",
        f"""for $o at $i in {O}
return <by id="{{ $o/@id }}">{{ sum({O}[position() <= $i]/amount/xs:decimal(.)) }}</by>""",
        ORDERS, ORDER, ORDER, place="last",
    ),
    Entry(
        "union ordered", "orders and returns by time",
        f"""for $x in ({O}, stream("returns")/returns/return)
order by xs:dateTime($x/@at), name($x)
return <move at="{{ $x/@at }}">{{ name($x), string($x/amount) }}</move>""",
        MOVES, ORDER, RETURN,
    ),
    Entry(
        "union total", "orders less returns",
        f"""sum({O}/amount/xs:decimal(.))
  - sum(stream("returns")/returns/return/amount/xs:decimal(.))""",
        MOVES, ORDER, RETURN,
    ),
)  # fmt: skip
