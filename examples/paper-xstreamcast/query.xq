(: Who sells a Pocket 3, and for how many pounds: the cheapest first. Prices and rates come by two streams. :)
for $i in stream("commodities")//item, $c in stream("currency")//currency
where $i/model = "Pocket 3" and $c/code = $i/price/@currency
let $pounds := xs:decimal($i/price) * xs:decimal($c/pounds)
order by $pounds
return concat($i/../../name, " ", $pounds)
