"""What boards of orders show: rows beside figures of their group and of all, shares, bands."""

from bench.growth.entry import Entry, Quiet
from bench.growth.shop import MOVES, ORDER, ORDERS, RETURN, SALES
from bench.growth.streams import Streams, Unit

O = 'stream("orders")/orders/order'  # noqa: E741 - it stands in every text
C = 'stream("customers")/customers/customer'
B = 'stream("returns")/returns/return'

# Rows that are compared with a figure of their group, or of all rows.
BESIDE = (
    ("above group mean", "orders of more than three times the mean of their region",
     f"""for $o in {O} group by $r := $o/@region let $mean := avg($o/amount/xs:decimal(.))
order by $r return $o[amount/xs:decimal(.) > 3 * $mean]/@id/string()"""),
    ("above group mean element", "the same within an element for each region",
     f"""for $o in {O} group by $r := $o/@region order by $r
let $mean := avg($o/amount/xs:decimal(.))
return <region name="{{ $r }}">{{ $o[xs:decimal(amount) > 3 * $mean]/@id/string() }}</region>"""),
    ("above group mean count", "how many orders are above the mean of their region",
     f"""for $o in {O} group by $r := $o/@region order by $r
let $mean := avg($o/amount/xs:decimal(.))
return <region name="{{ $r }}">{{ count($o[xs:decimal(amount) > $mean]) }}</region>"""),
    ("above group mean loop", "the same by a loop with a condition",
     f"""for $o in {O} group by $r := $o/@region order by $r
let $mean := avg($o/amount/xs:decimal(.))
return <region name="{{ $r }}">{{
  for $x in $o where xs:decimal($x/amount) > 3 * $mean return $x/@id/string() }}</region>"""),
    ("largest of group", "the orders that are as large as the largest of their region",
     f"""for $o in {O} group by $r := $o/@region order by $r
let $max := max($o/amount/xs:decimal(.))
return <largest region="{{ $r }}">{{ $o[xs:decimal(amount) = $max]/@id/string() }}</largest>"""),
    ("latest of group", "the last orders of each customer by their time",
     f"""for $o in {O} group by $c := $o/@customer order by $c
let $last := max($o/@at/xs:dateTime(.))
return <last of="{{ $c }}">{{ $o[xs:dateTime(@at) = $last]/amount/string() }}</last>"""),
    ("above mean of all", "orders of more than three times the mean, in one path",
     f"""{O}[amount > 3 * avg({O}/amount)]/@id/string()"""),
    ("above mean of all where", "the same by a condition of a loop",
     f"""for $o in {O} where $o/amount > 3 * avg({O}/amount) return $o/@id/string()"""),
    ("above mean of all count", "how many orders are above the mean",
     f"""count(for $o in {O} where $o/amount > avg({O}/amount) return $o)"""),
    ("largest of all", "the orders that are as large as the largest",
     f"""for $o in {O} where xs:decimal($o/amount) = max({O}/amount/xs:decimal(.))
return <largest>{{ $o/@id }}</largest>"""),
    ("near the largest", "orders of nine tenths of the largest or more",
     f"""let $max := max({O}/amount/xs:decimal(.))
for $o in {O} where $o/amount >= 0.9 * $max order by $o/@id return $o/@id/string()"""),
    ("outliers", "orders of more than the mean and six deviations",
     f"""let $v := {O}/amount/number(.) let $mean := avg($v)
let $var := sum(for $x in $v return $x * $x) div count($v) - $mean * $mean
for $o in {O} where number($o/amount) > $mean + 6 * math:sqrt($var)
return <outlier>{{ $o/@id }}</outlier>"""),
    ("last hour", "orders of the hour before the last order",
     f"""let $last := max({O}/@at/xs:dateTime(.))
for $o in {O} where xs:dateTime($o/@at) > $last - xs:dayTimeDuration("PT1H")
return $o/@id/string()"""),
    ("last hour total", "the total of that hour",
     f"""let $last := max({O}/@at/xs:dateTime(.))
return sum({O}[xs:dateTime(@at) > $last - xs:dayTimeDuration("PT1H")]/amount/xs:decimal(.))"""),
    ("last hour by region", "orders of each region in that hour",
     f"""let $last := max({O}/@at/xs:dateTime(.))
for $o in {O} where xs:dateTime($o/@at) > $last - xs:dayTimeDuration("PT1H")
group by $r := $o/@region order by $r
return <region name="{{ $r }}">{{ count($o), sum($o/amount/xs:decimal(.)) }}</region>"""),
    ("regions above mean", "regions whose total is above the mean of all totals",
     f"""let $totals := for $o in {O} group by $r := $o/@region
  return <t r="{{ $r }}">{{ sum($o/amount/xs:decimal(.)) }}</t>
for $t in $totals where xs:decimal($t) > avg($totals/xs:decimal(.)) return $t/@r/string()"""),
    ("best region", "the region with the largest total",
     f"""let $totals := for $o in {O} group by $r := $o/@region order by $r
  return <t r="{{ $r }}">{{ sum($o/amount/xs:decimal(.)) }}</t>
return $totals[xs:decimal(.) = max($totals/xs:decimal(.))]/@r/string()"""),
    ("first per product", "the first order of each product",
     f"""for $o in {O} group by $p := $o/product order by $p
return <first of="{{ $p }}">{{ head($o)/@id/string() }}</first>"""),
    ("two latest per product", "the last two orders of each product",
     f"""for $o in {O} group by $p := $o/product order by $p
return <two of="{{ $p }}">{{ $o[position() > last() - 2]/@id/string() }}</two>"""),
    ("second per region", "the second largest order of each region",
     f"""for $o in {O} group by $r := $o/@region order by $r
return <second of="{{ $r }}">{{ reverse(sort($o/amount/xs:decimal(.)))[2] }}</second>"""),
    ("range per product", "largest less smallest of each product",
     f"""for $o in {O} group by $p := $o/product let $v := $o/amount/xs:decimal(.)
let $range := max($v) - min($v) order by $range descending, $p
return <range of="{{ $p }}">{{ $range }}</range>"""),
    ("share of group", "orders that make more than a tenth of their customer's total",
     f"""for $o in {O} group by $c := $o/@customer let $all := sum($o/amount/xs:decimal(.))
where $all > 50000 order by $c
return <c id="{{ $c }}">{{ $o[xs:decimal(amount) > 0.1 * $all]/@id/string() }}</c>"""),
    ("where sum of group", "customers with orders of several products",
     f"""for $o in {O} group by $c := $o/@customer
where count(distinct-values($o/product)) > 6 order by $c
return <c id="{{ $c }}">{{ count($o) }}</c>"""),
    ("pivot", "totals of regions by columns",
     f"""<row>{{ for $r in ("r0", "r1", "r2", "r3") return
  attribute {{ $r }} {{ sum({O}[@region = $r]/amount/xs:decimal(.)) }} }}</row>"""),
    ("pivot if", "totals of small and large orders of each region",
     f"""for $o in {O} group by $r := $o/@region order by $r
return <r n="{{ $r }}" small="{{ sum($o[amount < 1000]/amount/xs:decimal(.)) }}"
  large="{{ sum($o[amount >= 1000]/amount/xs:decimal(.)) }}"/>"""),
    ("bands", "orders in bands of amounts",
     f"""for $o in {O} let $b := if ($o/amount < 100) then "low"
  else if ($o/amount < 5000) then "mid" else "high"
group by $b order by $b return <band name="{{ $b }}">{{ count($o) }}</band>"""),
    ("switch bands", "the same by switch over a rounded amount",
     f"""for $o in {O} group by $b := switch (xs:decimal($o/amount) idiv 5000)
  case 0 return "a" case 1 return "b" default return "c"
order by $b return <band name="{{ $b }}">{{ count($o), max($o/amount/xs:decimal(.)) }}</band>"""),
    ("hours of day", "orders by the hour of the day",
     f"""for $o in {O} group by $h := hours-from-dateTime(xs:dateTime($o/@at)) order by $h
return <hour of="{{ $h }}">{{ count($o) }}</hour>"""),
    ("busiest hour", "the hour of the calendar with most orders",
     f"""(for $o in {O} group by $h := substring($o/@at, 1, 13)
order by count($o) descending, $h return <busy hour="{{ $h }}">{{ count($o) }}</busy>)[1]"""),
    ("mean of means", "the mean of the means of regions",
     f"""avg(for $o in {O} group by $r := $o/@region return avg($o/amount/xs:decimal(.)))"""),
    ("spread of groups", "largest total of a region less the smallest",
     f"""let $t := for $o in {O} group by $r := $o/@region return sum($o/amount/xs:decimal(.))
return max($t) - min($t)"""),
    ("ranked groups", "regions with their rank by total",
     f"""for $o in {O} group by $r := $o/@region let $sum := sum($o/amount/xs:decimal(.))
order by $sum descending, $r count $rank
return <region rank="{{ $rank }}" name="{{ $r }}">{{ $sum }}</region>"""),
    ("cumulated groups", "running total over days",
     f"""let $days := for $o in {O} group by $d := substring($o/@at, 1, 10) order by $d
  return <d on="{{ $d }}">{{ sum($o/amount/xs:decimal(.)) }}</d>
for $d at $i in $days return <by on="{{ $d/@on }}">{{
  sum($days[position() <= $i]/xs:decimal(.)) }}</by>"""),
    ("list per group", "names of the products of each region",
     f"""for $o in {O} group by $r := $o/@region order by $r
return <r n="{{ $r }}">{{ sort(distinct-values($o/product)) }}</r>"""),
    ("repeat customers share", "the share of customers with two orders or more",
     f"""let $n := for $o in {O} group by $c := $o/@customer return count($o)
return count($n[. >= 2]) div count($n)"""),
    ("some group", "whether some region has more than a thousand orders",
     f"""some $n in (for $o in {O} group by $r := $o/@region return sum($o/amount/xs:decimal(.)))
satisfies $n > 20000000"""),
    ("duplicates", "ids of products and customers that occur twice",
     f"""for $o in {O} group by $c := $o/@customer, $p := $o/product where count($o) > 1
order by $c, $p return <twice c="{{ $c }}" p="{{ $p }}"/>"""),
    ("position of largest", "how many orders are larger than o7",
     f"""count({O}[xs:decimal(amount) > xs:decimal({O}[@id = "o7"]/amount)])"""),
    ("mode", "the product with most orders",
     f"""let $n := for $o in {O} group by $p := $o/product return
  <p n="{{ $p }}">{{ count($o) }}</p>
return ($n[. = max($n/xs:integer(.))]/@n/string()) => sort()"""),
    ("string of all", "the ids of large orders in one string",
     f"""string-join({O}[amount > 20000]/@id, ",")"""),
    ("json row", "a map for each region",
     f"""for $o in {O} group by $r := string($o/@region) order by $r
return serialize(map {{ "region": $r, "n": count($o) }}, map {{ "method": "json" }})"""),
)  # fmt: skip

# Two streams.
PAIRED = (
    ("above limit sum", "customers whose total is above their limit", ORDER, ORDER,
     f"""for $c in {C} let $sum := sum({O}[@customer = $c/@id]/amount/xs:decimal(.))
where $sum > 3 * xs:decimal($c/limit) return <over>{{ $c/@id, $sum }}</over>"""),
    ("segment mean", "orders of more than three times the mean of the segment", ORDER, ORDER,
     f"""for $o in {O}, $c in {C} where $o/@customer = $c/@id group by $s := $c/segment
let $mean := avg($o/amount/xs:decimal(.)) order by $s
return <s n="{{ $s }}">{{ $o[xs:decimal(amount) > 3 * $mean]/@id/string() }}</s>"""),
    ("latest with name", "the last order of each customer, with the name", ORDER, ORDER,
     f"""for $c in {C} let $o := {O}[@customer = $c/@id][last()] where exists($o)
return <last>{{ $c/name/text(), $o/@id/string() }}</last>"""),
    ("largest with name", "the largest order of each customer", ORDER, ORDER,
     f"""for $c in {C} let $o := {O}[@customer = $c/@id]
let $max := max($o/amount/xs:decimal(.)) where $max > 20000
return <largest>{{ $c/@id, $o[xs:decimal(amount) = $max]/@id/string() }}</largest>"""),
    ("share of segment", "each segment's share of all orders", ORDER, ORDER,
     f"""for $o in {O}, $c in {C} where $o/@customer = $c/@id group by $s := $c/segment
order by $s return <s n="{{ $s }}">{{ count($o) div count({O}) }}</s>"""),
    ("segments without", "segments none of whose customers has a large order", ORDER, ORDER,
     f"""for $s in distinct-values({C}/segment)
where empty({C}[segment = $s][@id = {O}[amount > 20000]/@customer]) order by $s return $s"""),
    ("two counts", "customers and orders of each segment", ORDER, ORDER,
     f"""for $c in {C} group by $s := $c/segment order by $s
return <s n="{{ $s }}" customers="{{ count($c) }}">{{ count({O}[@customer = $c/@id]) }}</s>"""),
)  # fmt: skip

RETURNS = (
    ("rate of returns", "what came back, of all",
     f"""sum({B}/amount/xs:decimal(.)) div sum({O}/amount/xs:decimal(.))"""),
    ("returned by region", "what came back of each region",
     f"""for $b in {B}, $o in {O} where $b/@order = $o/@id group by $r := $o/@region order by $r
return <r n="{{ $r }}">{{ sum($b/amount/xs:decimal(.)) }}</r>"""),
    ("never returned", "large orders of which nothing came back",
     f"""for $o in {O} where $o/amount > 20000 and empty({B}[@order = $o/@id])
return $o/@id/string()"""),
    ("time to return", "the mean time from order to return",
     f"""avg(for $b in {B}, $o in {O} where $b/@order = $o/@id
return xs:dateTime($b/@at) - xs:dateTime($o/@at))"""),
    ("latest of both", "the last five events of both streams",
     f"""subsequence(for $x in ({O}, {B}) order by xs:dateTime($x/@at) descending, name($x)
return <e>{{ $x/@at, name($x) }}</e>, 1, 5)"""),
)  # fmt: skip

# What a change of one kind leaves as it is.
_QUIET: dict[str, Quiet] = {
    **dict.fromkeys(
        ("above group mean count", "outliers", "where sum of group", "some group",
         "returned by region", "time to return"), "new"
    ),
    **dict.fromkeys(("duplicates", "mode"), "both"),
    **dict.fromkeys(
        ("last hour", "first per product", "two latest per product", "pivot", "hours of day",
         "busiest hour", "segments without", "never returned", "latest of both"), "correction"
    ),
}  # fmt: skip


def _entry(name: str, what: str, text: str, streams: Streams, new: Unit, fix: Unit) -> Entry:
    return Entry(name, what, text, streams, new, fix, quiet=_QUIET.get(name, ""))


DASHBOARDS = (
    *(_entry(name, what, text, ORDERS, ORDER, ORDER) for name, what, text in BESIDE),
    *(_entry(name, what, text, SALES, new, fix) for name, what, new, fix, text in PAIRED),
    *(_entry(name, what, text, MOVES, ORDER, RETURN) for name, what, text in RETURNS),
)
