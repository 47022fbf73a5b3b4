(: Keywords in emphasis in annotations, along a long path. :)
for $a in
  /site/closed_auctions/closed_auction/annotation/description/parlist/listitem/parlist/listitem
  /text/emph/keyword/text()
return <text>{ $a }</text>
