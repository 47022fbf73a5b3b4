(: Reserves of auctions in which one person bid before another. :)
for $b in /site/open_auctions/open_auction
where
  some $first in $b/bidder/personref[@person = "person20"],
       $second in $b/bidder/personref[@person = "person51"]
  satisfies $first << $second
return <history>{ $b/reserve/text() }</history>
