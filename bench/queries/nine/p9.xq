(: Changed: contains() takes one string, a paper has several authors, so it is asked of each;
   "\n" is no escape in XQuery, the line end is written as a character reference. :)
for $d in //inproceedings
where some $a in $d/author satisfies contains($a, "Smith")
order by $d/year
return ($d/year/text(), ": ", $d/title/text(), "&#10;")
