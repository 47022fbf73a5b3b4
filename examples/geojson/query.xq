(: features that were corrected, with the first and the last magnitude :)
for $f in stream("quakes")//fn:map[fn:string[@key = "type"] = "Feature"]
group by $id := string($f/*[@key = "id"])
where count($f) > 1
return concat($id, ": ", $f[1]//*[@key = "mag"], " -> ", $f[last()]//*[@key = "mag"])
