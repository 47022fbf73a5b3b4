declare namespace b = "http://quakeml.org/xmlns/bed/1.2";

(: what was said of each event, and until when it counted :)
for $e in stream("quakes")//b:event
return concat($e/b:magnitude/b:mag/b:value, " from ", vtFrom($e), " to ", vtTo($e))
