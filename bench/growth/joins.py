"""Joins: of two streams, of one with itself, by equality and by order, outer, semi and anti."""

from bench.growth.entry import Entry
from bench.growth.shop import CUSTOMER, MOVES, ORDER, ORDERS, RETURN, SALES
from bench.growth.streams import Place, Unit

O = 'stream("orders")/orders/order'  # noqa: E741 - it stands in every text
C = 'stream("customers")/customers/customer'
B = 'stream("returns")/returns/return'

OF_SALES: tuple[tuple[str, str, Unit, Unit, str], ...] = (
    ("join", "orders with their customers' names", ORDER, CUSTOMER,
     f"""for $o in {O}, $c in {C} where $o/@customer = $c/@id
return <order>{{ $o/@id, $c/name/text() }}</order>"""),
    ("join group", "the total of each segment", ORDER, ORDER,
     f"""for $o in {O}, $c in {C} where $o/@customer = $c/@id
group by $s := $c/segment order by $s
return <segment name="{{ $s }}">{{ sum($o/amount/xs:decimal(.)) }}</segment>"""),
    ("join outer", "each customer and the number of orders, or none", ORDER, CUSTOMER,
     f"""for $c in {C} let $o := {O}[@customer = $c/@id]
return <customer>{{ $c/@id, $c/name/text(),
  if (empty($o)) then "none" else count($o) }}</customer>"""),
    ("join allowing empty", "an outer join by the language's own words", ORDER, CUSTOMER,
     f"""for $c in {C} for $o allowing empty in {O}[@customer = $c/@id]
return <pair customer="{{ $c/name }}" order="{{ $o/@id }}"/>"""),
    ("join anti", "customers without an order", ORDER, ORDER,
     f"""for $c in {C} where empty({O}[@customer = $c/@id]) return $c/name/text()"""),
    ("join semi", "customers with an order", ORDER, ORDER,
     f"""for $c in {C} where exists({O}[@customer = $c/@id]) return $c/name/text()"""),
    ("join not in", "large orders of customers outside a segment", ORDER, ORDER,
     f"""for $o in {O} where not($o/@customer = {C}[segment = "s1"]/@id)
  and $o/amount >= 20000 return $o/@id/string()"""),
    ("join conjunction", "orders above their customers' limits", ORDER, CUSTOMER,
     f"""for $o in {O}, $c in {C}
where $o/@customer = $c/@id and xs:decimal($o/amount) > xs:decimal($c/limit)
return <over>{{ $o/@id, $c/@id/string() }}</over>"""),
    ("join some", "customers of whom some order is large", ORDER, ORDER,
     f"""for $c in {C}
where some $o in {O} satisfies $o/@customer = $c/@id and $o/amount > 20000
return $c/@id/string()"""),
    ("join every", "customers of whom every order is large", ORDER, ORDER,
     f"""for $c in {C} let $o := {O}[@customer = $c/@id]
where exists($o) and (every $x in $o satisfies $x/amount > 20000) return $c/@id/string()"""),
    ("join nested", "each customer's orders, ordered inside", ORDER, ORDER,
     f"""for $c in {C} return <customer>{{ $c/@id,
  for $o in {O} where $o/@customer = $c/@id order by xs:decimal($o/amount) descending
  return <order>{{ $o/amount/text() }}</order> }}</customer>"""),
    ("join greater", "how many orders are above each customer's limit", ORDER, CUSTOMER,
     f"""for $c in {C}[segment = "s0"][position() <= 20]
return <over>{{ $c/@id, count({O}[xs:decimal(amount) > xs:decimal($c/limit)]) }}</over>"""),
    ("join then order", "the five largest totals of a segment", ORDER, ORDER,
     f"""(for $c in {C} let $sum := sum({O}[@customer = $c/@id]/amount/xs:decimal(.))
where $c/segment = ("s0", "s1", "s2", "s3", "s4", "s5") order by $sum descending, $c/@id
return <customer>{{ $c/@id, $sum }}</customer>)[position() <= 5]"""),
    ("join by function", "a look-up in a function of the user's", ORDER, CUSTOMER,
     f"""declare function local:name($id) {{ {C}[@id = $id]/name/string() }};
for $o in {O} where $o/amount >= 20000
return <order>{{ $o/@id, local:name($o/@customer) }}</order>"""),
    ("join distinct", "names of customers who ordered for more than 20,000", ORDER, ORDER,
     f"""for $s in distinct-values({C}[@id = {O}[amount > 20000]/@customer]/name)
order by $s return $s"""),
)  # fmt: skip

# Only the first customers are looked at.
PLACES: dict[str, Place] = {"join greater": "first"}

JOINS = (
    *(
        Entry(name, what, text, SALES, new, fix, place=PLACES.get(name, "middle"))
        for name, what, new, fix, text in OF_SALES
    ),
    Entry(
        "join self", "orders that repeat another, with both amounts",
        f"""for $a in {O}, $b in {O} where $a/@again = $b/@id
return <again>{{ $a/@id, $a/amount/text(), "after", $b/amount/text() }}</again>""",
        ORDERS, ORDER, ORDER,
    ),
    Entry(
        "join returned", "orders less what came back of them",
        f"""for $o in {O} let $back := sum({B}[@order = $o/@id]/amount/xs:decimal(.))
where $back > 8 return <net>{{ $o/@id, xs:decimal($o/amount) - $back }}</net>""",
        MOVES, RETURN, RETURN,
    ),
)  # fmt: skip
