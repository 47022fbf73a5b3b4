declare namespace g = "http://www.topografix.com/GPX/1/1";

(: points at which the track was above 14 m :)
for $p in stream("track")//g:trkpt
where $p/g:ele > 14
return concat(substring($p/g:time, 12, 8), " ", $p/g:ele, " m")
