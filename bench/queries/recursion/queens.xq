declare function local:safe($placed as xs:integer*, $column as xs:integer) as xs:boolean {
  every $i in 1 to count($placed) satisfies
    $placed[$i] ne $column and abs($placed[$i] - $column) ne count($placed) + 1 - $i
};
declare function local:place($n as xs:integer, $placed as xs:integer*) as xs:integer {
  if (count($placed) = $n) then 1
  else sum(for $column in 1 to $n where local:safe($placed, $column)
           return local:place($n, ($placed, $column)))
};
local:place(6, ())
