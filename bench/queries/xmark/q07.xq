(: How many pieces of prose there are. :)
for $p in /site
return count($p//description) + count($p//annotation) + count($p//emailaddress)
