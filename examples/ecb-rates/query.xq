(: What a currency cost on a day, and what it costs now. :)
for $c in ("NOK", "USD")
let $rate := stream("ecb")/*/*:Cube[@currency = $c]
return concat($c, " ", $rate?[2024-05-01]/@rate, " ", $rate?[now]/@rate)
