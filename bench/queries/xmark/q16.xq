(: Sellers of auctions that have such a keyword. :)
for $a in /site/closed_auctions/closed_auction
where
  exists(
    $a/annotation/description/parlist/listitem/parlist/listitem/text/emph/keyword/text()
  )
return <person id="{ $a/seller/@person }"/>
