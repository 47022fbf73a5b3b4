(: The records in force: the roadworks ended as planned, the animals were a cancelled report. :)
for $r in stream("road")//*:situationRecord?[now]
return concat($r/@id, " v", $r/@version, ": ", $r//*:comment)
