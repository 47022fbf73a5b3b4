declare function local:grown($depth as xs:integer) as element() {
  if ($depth = 0) then <leaf n="1"/>
  else <node n="{$depth}">{ for $i in 1 to 2 return local:grown($depth - 1) }</node>
};
declare function local:depth($node as element()) as xs:integer {
  if (empty($node/*)) then 1 else 1 + max(for $child in $node/* return local:depth($child))
};
declare function local:walked($node as element()) as xs:integer {
  let $own := xs:integer($node/@n)
  return $own + sum(for $child in $node/* return local:walked($child))
};
let $tree := local:grown(8) return (local:depth($tree), local:walked($tree))
