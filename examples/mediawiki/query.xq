(: What the pages said on the first of February. :)
for $p in stream("wiki")//*:page
return concat($p/*:title, ": ", $p/*:revision?[2024-02-01]/*:text)
