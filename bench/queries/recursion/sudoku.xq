declare variable $board as xs:integer+ := (
  5,3,0, 0,7,0, 0,0,0,   6,0,0, 1,9,5, 0,0,0,   0,9,8, 0,0,0, 0,6,0,
  8,0,0, 0,6,0, 0,0,3,   4,0,0, 8,0,3, 0,0,1,   7,0,0, 0,2,0, 0,0,6,
  0,6,0, 0,0,0, 2,8,0,   0,0,0, 4,1,9, 0,0,5,   0,0,0, 0,8,0, 0,7,9);
declare function local:row($board as xs:integer+, $i as xs:integer) as xs:integer+ {
  let $first := ($i - 1) idiv 9 * 9 return $board[position() > $first and position() <= $first + 9]
};
declare function local:column($board as xs:integer+, $i as xs:integer) as xs:integer+ {
  let $at := ($i - 1) mod 9 return $board[(position() - 1) mod 9 = $at]
};
declare function local:block($board as xs:integer+, $i as xs:integer) as xs:integer+ {
  let $y := ($i - 1) idiv 27, $x := ($i - 1) mod 9 idiv 3
  return $board[(position() - 1) idiv 27 = $y and (position() - 1) mod 9 idiv 3 = $x]
};
declare function local:fits($board as xs:integer+, $i as xs:integer) as xs:integer* {
  let $taken := (local:row($board, $i), local:column($board, $i), local:block($board, $i))
  return (1 to 9)[not(. = $taken)]
};
declare function local:tried($board as xs:integer+, $i as xs:integer, $values as xs:integer*)
    as xs:integer* {
  if (empty($values)) then ()
  else
    let $next := (subsequence($board, 1, $i - 1), $values[1], subsequence($board, $i + 1)),
        $solved := local:solved($next)
    return if (exists($solved)) then $solved else local:tried($board, $i, tail($values))
};
declare function local:solved($board as xs:integer+) as xs:integer* {
  let $i := index-of($board, 0)[1]
  return if (empty($i)) then $board else local:tried($board, $i, local:fits($board, $i))
};
string-join(local:solved($board) ! string(.), "")
