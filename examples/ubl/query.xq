(: what was to be paid for each order, and since when :)
for $o in stream("orders")//(*:Order, *:OrderChange)
return concat($o//*:PayableAmount, " from ", vtFrom($o), " to ", vtTo($o))
