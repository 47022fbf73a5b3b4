(: The warnings in force: B1 expired, A1 was updated, G1 was cancelled. :)
declare namespace c = "urn:oasis:names:tc:emergency:cap:1.2";
for $a in stream("cap")//c:alert?[now]
return concat($a/c:identifier, ": ", $a/c:info/c:headline)
