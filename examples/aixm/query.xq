(: The life of a runway: closed for a week in March, and open again without another message; renamed in April. :)
declare namespace aixm = "http://www.aixm.aero/schema/5.1";
for $r in stream("aixm")//aixm:RunwayDirection
for $p in ($r/aixm:designator, $r/aixm:availability)
return concat(local-name($p), " ", $p, " from ", $p/@vtFrom, " to ", $p/@vtTo)
