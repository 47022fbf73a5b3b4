(: Stop times of today and of yesterday. :)
declare namespace n = "http://www.netex.org.uk/netex";
for $t in stream("timetable")//n:TimetabledPassingTime
return concat($t/@id, " ", $t/n:DepartureTime, " from ", $t/@vtFrom, " to ", $t/@vtTo)
