(: Items that were corrected: first and last title. :)
for $i in stream("rss")//item
group by $g := string($i/guid)
where count($i) > 1
return concat($g, ": ", $i[1]/title, " -> ", $i[last()]/title)
