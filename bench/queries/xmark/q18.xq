(: Reserves in another currency: a user's function. :)
declare namespace local = "http://www.w3.org/2005/xquery-local-functions";

declare function local:convert($v as xs:decimal?) as xs:decimal? {
  2.20371 * $v
};

for $i in /site/open_auctions/open_auction
return local:convert(zero-or-one($i/reserve/text()))
