(: What passengers must know now. :)
declare namespace s = "http://www.siri.org.uk/siri";
for $x in stream("sx")//s:PtSituationElement?[now]
return concat($x/s:SituationNumber, ": ", $x/s:Summary)
