declare function local:a($m as xs:integer, $n as xs:integer) as xs:integer {
  if ($m = 0) then $n + 1
  else if ($n = 0) then local:a($m - 1, 1)
  else local:a($m - 1, local:a($m, $n - 1))
};
local:a(2, 30)
