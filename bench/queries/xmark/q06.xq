(: How many items are listed in all regions together. :)
for $b in /site/regions
return count($b//item)
