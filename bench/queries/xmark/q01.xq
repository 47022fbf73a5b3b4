(: The name of the person with a given id. :)
for $b in /site/people/person[@id = "person0"]
return $b/name/text()
