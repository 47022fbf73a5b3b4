(: Names of persons and of the items they bought in Europe: two joins. :)
let $sales := /site/closed_auctions/closed_auction
let $european := /site/regions/europe/item
for $p in /site/people/person
let $a :=
  for $t in $sales
  where $p/@id = $t/buyer/@person
  return
    let $n :=
      for $t2 in $european
      where $t/itemref/@item = $t2/@id
      return $t2
    return <item>{ $n/name/text() }</item>
return <person name="{ $p/name/text() }">{ $a }</person>
