(: Accounts whose charges in November reach their current limit. A charge that was denied later does not count. :)
for $a in stream("credit")//account
where sum($a/transaction?[2003-11-01, 2003-12-01][status#[last] = "charged"]/amount) >= $a/creditLimit?[now]
return concat($a/@no, " ", $a/customer)
