(: The books of Smith that Wiley publishes, sorted by price. :)
for $b in stream("biblio")/biblio[publisher = "Wiley"]/book
where $b/author = "Smith"
order by xs:decimal($b/price)
return concat($b/title, " ", $b/price)
