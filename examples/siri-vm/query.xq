(: The vehicles that are known to be on the road; bus-2 has not been heard of since its time ran out. :)
declare namespace s = "http://www.siri.org.uk/siri";
for $v in stream("vm")//s:VehicleActivity?[now]
return concat($v/s:VehicleMonitoringRef, " ", $v//s:Latitude)
