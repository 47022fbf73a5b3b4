(: The sessions of each user, from login to logout, with their number of entries. :)
for $u in distinct-values(stream("weblog")/log/entry/user)
forseq $w in stream("weblog")/log/entry[user eq $u] tumbling window
  start curItem $in when $in/op eq "login"
  end curItem $out when $out/op eq "logout"
return concat($u, ": ", string-join($w/op, " "))
