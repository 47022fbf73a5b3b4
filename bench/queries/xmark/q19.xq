(: All items with their location, sorted. :)
for $b in /site/regions//item
let $k := $b/name/text()
order by zero-or-one($b/location) ascending empty greatest
return <item name="{ $k }">{ $b/location/text() }</item>
