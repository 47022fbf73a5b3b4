declare function local:sorted($values as xs:integer*) as xs:integer* {
  if (count($values) < 2) then $values
  else
    let $pivot := head($values), $rest := tail($values)
    return (local:sorted($rest[. < $pivot]), $pivot, local:sorted($rest[. >= $pivot]))
};
local:sorted(for $i in 1 to 300 return ($i * 7919) mod 1009)
