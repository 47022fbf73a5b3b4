(: The trades that stand, and what was said of them before. :)
declare namespace f = "http://www.fpml.org/FpML-5/confirmation";
for $t in stream("trades")//f:trade
return concat($t//f:tradeId, " ", $t//f:amount, " until ", $t/@vtTo)
