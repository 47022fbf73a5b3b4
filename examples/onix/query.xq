(: books whose price changed :)
for $p in stream("books")//*:Product
group by $b := string($p/*:RecordReference)
where count(distinct-values($p//*:PriceAmount)) > 1
return concat(($p//*:TitleText)[1], ": ", string-join($p//*:PriceAmount, " -> "))
