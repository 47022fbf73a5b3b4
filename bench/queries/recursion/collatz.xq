declare function local:steps($n as xs:integer, $count as xs:integer) as xs:integer {
  if ($n = 1) then $count
  else if ($n mod 2 = 0) then local:steps($n idiv 2, $count + 1)
  else local:steps(3 * $n + 1, $count + 1)
};
local:steps(97, 0), local:steps(871, 0)
