(: The same as Q11 for persons with a higher income. :)
for $p in /site/people/person
let $l :=
  for $i in /site/open_auctions/open_auction/initial
  where $p/profile/@income > 5000 * exactly-one($i/text())
  return $i
where $p/profile/@income > 50000
return <items person="{ $p/profile/@income }">{ count($l) }</items>
