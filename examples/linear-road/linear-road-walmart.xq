(: Linear Road, as Walmart's validator reads its rules. See linear-road.xq for the rules of 2004. :)

declare option xsc:once "crossing charge=left account=request body=notification body=account body=expenditure body=travel";

(: Cars and their speeds, by segment and minute. A window closes when the first report of a later minute comes. :)
declare stream statistics :=
  for tumbling window $reports in stream("road")/road/report
    start $first when true()
    only end next $next when $next/@time idiv 60 ne $first/@time idiv 60
  let $minute := $first/@time idiv 60 + 1
  return
    for $r in $reports
    group by $xway := $r/@xway, $dir := $r/@dir, $seg := $r/@seg
    return
      <segment place="{$xway}.{$dir}.{$seg}" minute="{$minute}" cars="{count(distinct-values($r/@vid))}"
        readings="{count($r)}" total="{sum($r/@speed)}"/>;

(: A car has stopped with its fourth report from one place, and with those that follow from there. It is cleared in the
   minute in which it moves on: what counts is its last report of a minute, which comes in the second half. :)
declare stream standing :=
  for $r in stream("road")/road/report
  where $r/@speed = 0
  return <report vid="{$r/@vid}" place="{$r/@xway}.{$r/@dir}.{$r/@lane}.{$r/@pos}" xway="{$r/@xway}" dir="{$r/@dir}"
    seg="{$r/@seg}" minute="{$r/@time idiv 60 + 1}" last="{$r/@time mod 60 ge 30}"/>;

declare stream stopped :=
  for $r in stream("standing")/answer/report
  group by $vid := $r/@vid, $place := $r/@place
  return subsequence($r, 4)[@last = "true"];

(: Two cars that stand at one place in a minute affect five segments in the next: theirs, and four before it. :)
declare stream affected :=
  for $s in stream("stopped")/answer/report
  group by $place := $s/@place, $minute := $s/@minute, $xway := $s/@xway, $dir := $s/@dir, $seg := $s/@seg
  where count(distinct-values($s/@vid)) ge 2
  for $ahead in 0 to 4
  let $there := if ($dir = 0) then $seg - $ahead else $seg + $ahead
  return <accident place="{$xway}.{$dir}.{$there}" minute="{$minute + 1}" ahead="{$ahead}"/>;

(: What a segment costs in a minute. 1e-9 keeps a mean of exactly 39.5 from becoming 39.49… :)
declare stream price :=
  for $known in (
    for $s in stream("statistics")/answer/segment, $later in 1 to 5
    return
      <known key="{$s/@place}.{$s/@minute + $later}" readings="{$s/@readings}" total="{$s/@total}" cars="{if ($later = 1) then $s/@cars else 0}"/>,
    for $a in stream("affected")/answer/accident
    return <known key="{$a/@place}.{$a/@minute}" ahead="{$a/@ahead}"/>)
  group by $key := $known/@key
  let $lav := if (exists($known/@total)) then floor(sum($known/@total) div sum($known/@readings) + 0.5 + 1e-9) else 0, $cars := xs:integer(max($known/@cars))
  return
    <price key="{$key}" lav="{$lav}" ahead="{min($known/@ahead)}"
      toll="{if ($lav ge 40 or not($cars gt 50) or exists($known/@ahead)) then 0 else 2 * ($cars - 50) * ($cars - 50)}"/>;

(: Whether a report of a car is the first of a visit to a segment, and whether it is the first of a trip. :)
declare function local:enters($before as element()?, $r as element()?) as xs:boolean {
  empty($before) or $before/@lane = "4" or ($r/@lane = "0" and $r/@time - $before/@time gt 60)
};
declare function local:crosses($before as element()?, $r as element()?) as xs:boolean {
  exists($r) and (local:enters($before, $r)
    or $before/@xway != $r/@xway or $before/@dir != $r/@dir or $before/@seg != $r/@seg)
};

declare stream crossing :=
  for $vid in distinct-values(stream("road")/road/report/@vid)
  for tumbling window $w in stream("road")/road/report[@vid = $vid]
    start $r previous $before when local:crosses($before, $r) and $r/@lane != "4"
    only end when true()
  return
    <crossing vid="{$vid}" time="{$r/@time}" dir="{$r/@dir}" seg="{$r/@seg}"
      key="{$r/@xway}.{$r/@dir}.{$r/@seg}.{$r/@time idiv 60 + 1}"/>;

(: A visit that is followed by another one of the same trip, in whatever lane: the toll at its beginning is paid. :)
declare stream left :=
  for $vid in distinct-values(stream("road")/road/report/@vid)
  for tumbling window $w in stream("road")/road/report[@vid = $vid]
    start $r when true()
    only end $last next $next when local:crosses($last, $next)
  where not(local:enters($last, $next)) and $r/@lane != "4"
  return <left vid="{$vid}" time="{$next/@time}" key="{$r/@xway}.{$r/@dir}.{$r/@seg}.{$r/@time idiv 60 + 1}"/>;

declare stream charge :=
  for $l in stream("left")/answer/left
  for $price in stream("price")/answer/price[@key = $l/@key]
  where $price/@toll != 0
  return <charge vid="{$l/@vid}" time="{$l/@time}" toll="{$price/@toll}"/>;

(: The notifications of a car that comes to a segment. :)
declare stream notification :=
  for $c in stream("crossing")/answer/crossing
  for $price allowing empty in stream("price")/answer/price[@key = $c/@key]
  return (
    <toll vid="{$c/@vid}" time="{$c/@time}" lav="{if (exists($price)) then $price/@lav else 0}"
      toll="{if (exists($price)) then $price/@toll else 0}"/>,
    if ($price/@ahead != "")
    then
      <accident vid="{$c/@vid}" time="{$c/@time}"
        seg="{if ($c/@dir = 0) then $c/@seg + $price/@ahead else $c/@seg - $price/@ahead}"/>
    else ());

declare stream request := stream("road")/road/(balance | expenditure | travel);

declare stream account :=
  for $q in stream("request")/answer/balance
  let $paid :=
    for $c in stream("charge")/answer/charge
    where $c/@vid = $q/@vid and number($c/@time) le number($q/@time)
    return number($c/@toll)
  return <balance qid="{$q/@qid}" time="{$q/@time}" result="{$q/@time}" amount="{xs:integer(sum($paid))}"/>;

(: What was paid on an expressway on a day of the past. Without a record there is no answer. :)
declare stream expenditure :=
  for $q in stream("request")/answer/expenditure
  for $paid in stream("tolls")/tolls/paid[@vid = $q/@vid][@day = $q/@day][@xway = $q/@xway]
  return <expenditure qid="{$q/@qid}" time="{$q/@time}" amount="{$paid/@toll}"/>;

(: How long a trip takes and costs: each segment as it was on that weekday in the hour at which the car gets there.
   $seconds and $tolls have 24 values for each segment; $after segments the car has driven for $time and paid $toll. :)
declare function local:trip(
  $seconds as xs:integer*, $tolls as xs:integer*, $minute as xs:integer,
  $after as xs:integer, $time as xs:integer, $toll as xs:integer
) as xs:integer+ {
  if (24 * $after ge count($seconds)) then ($time, $toll)
  else
    let $at := 24 * $after + ($minute - 1 + $time idiv 60) mod 1440 idiv 60 + 1
    return local:trip($seconds, $tolls, $minute, $after + 1, $time + $seconds[$at], $toll + $tolls[$at])
};

declare stream travel :=
  for $q in stream("request")/answer/travel
  let $from := xs:integer($q/@from), $to := xs:integer($q/@to)
  let $dir := if ($from le $to) then 0 else 1
  for $day in stream("past")/past/day[@key = concat($q/@xway, ".", $dir, ".", $q/@dow)]
  let $between := $day/segment[xs:integer(@n) ge min(($from, $to)) and xs:integer(@n) le max(($from, $to))]
  let $hours := (if ($dir = 0) then $between else reverse($between)) ! hour
  let $trip := local:trip(
    $hours ! (3600 idiv @lav),
    $hours ! (if (@lav < 40 and @cars > 50) then xs:integer(2 * (@cars - 50) * (@cars - 50)) else 0),
    xs:integer($q/@tod), 0, 0, 0)
  return <travel qid="{$q/@qid}" time="{$q/@time}" seconds="{$trip[1]}" toll="{$trip[2]}"/>;

(stream("notification")/answer/*, stream("account")/answer/*, stream("expenditure")/answer/*, stream("travel")/answer/*)
