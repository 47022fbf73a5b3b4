(: For each person the number of auctions whose initial price is below 0.02 % of the income. :)
for $p in /site/people/person
let $l :=
  for $i in /site/open_auctions/open_auction/initial
  where $p/profile/@income > 5000 * exactly-one($i/text())
  return $i
return <items name="{ $p/name/text() }">{ count($l) }</items>
