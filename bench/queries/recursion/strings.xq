declare function local:reversed($text as xs:string) as xs:string {
  if (string-length($text) < 2) then $text
  else concat(local:reversed(substring($text, 2)), substring($text, 1, 1))
};
declare function local:digits($n as xs:integer, $base as xs:integer) as xs:string {
  if ($n < $base) then string($n)
  else local:digits($n idiv $base, $base) || string($n mod $base)
};
local:reversed(string-join((1 to 300) ! string(.), "-")),
for $i in 1 to 200 return local:digits($i * $i, 2)
