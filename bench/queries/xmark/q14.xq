(: Names of items whose description holds a word: full text. :)
for $i in /site//item
where contains(string(exactly-one($i/description)), "gold")
return $i/name/text()
