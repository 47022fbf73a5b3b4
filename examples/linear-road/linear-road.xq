(: Linear Road, as the paper and the validator of 2004 read its rules. :)

declare option xsc:once "crossing account=request body=notification body=account body=expenditure body=travel";

(: Cars and their mean speed, by segment and minute. A window closes when the first report of a later minute comes. :)
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
        speed="{avg(for $one in $r group by $vid := $one/@vid return avg($one/@speed))}"/>;

(: A car has stopped with its fourth report from one place, and with those that follow from there. :)
declare stream standing :=
  for $r in stream("road")/road/report
  where $r/@speed = 0
  return <report vid="{$r/@vid}" place="{$r/@xway}.{$r/@dir}.{$r/@lane}.{$r/@pos}" xway="{$r/@xway}" dir="{$r/@dir}"
    seg="{$r/@seg}" minute="{$r/@time idiv 60 + 1}"/>;

declare stream stopped :=
  for $r in stream("standing")/answer/report
  group by $vid := $r/@vid, $place := $r/@place
  return subsequence($r, 4);

(: Two cars that stand at one place in a minute affect five segments in the next: theirs, and four before it. :)
declare stream affected :=
  for $s in stream("stopped")/answer/report
  group by $place := $s/@place, $minute := $s/@minute, $xway := $s/@xway, $dir := $s/@dir, $seg := $s/@seg
  where count(distinct-values($s/@vid)) ge 2
  for $ahead in 0 to 4
  let $there := if ($dir = 0) then $seg - $ahead else $seg + $ahead
  return <accident place="{$xway}.{$dir}.{$there}" minute="{$minute + 1}" ahead="{$ahead}"/>;

(: What the last five minutes say of a segment. 1e-9 keeps a mean of exactly 40 from becoming 39.99… :)
declare stream price :=
  for $s in stream("statistics")/answer/segment, $later in 1 to 5
  let $minute := $s/@minute + $later, $speed := xs:double($s/@speed)
  let $cars := if ($later = 1) then xs:integer($s/@cars) else 0
  group by $place := $s/@place, $minute
  let $lav := floor(avg($speed) + 1e-9), $cars := max($cars)
  return
    <price key="{$place}.{$minute}" lav="{$lav}"
      toll="{if ($lav ge 40 or $cars le 50) then 0 else 2 * ($cars - 50) * ($cars - 50)}"/>;

(: Segments in which an accident counts in a minute, and how far ahead the next one is. :)
declare stream danger :=
  for $a in stream("affected")/answer/accident
  group by $place := $a/@place, $minute := $a/@minute
  return <danger key="{$place}.{$minute}" ahead="{min($a/@ahead)}"/>;

(: The first report of a car from a segment, except from its exit ramp. :)
declare stream crossing :=
  for $r in stream("road")/road/report
  where $r/@lane != "4"
  group by $vid := $r/@vid, $xway := $r/@xway, $dir := $r/@dir, $seg := $r/@seg
  let $time := xs:integer(min($r/@time))
  return <crossing vid="{$vid}" time="{$time}" dir="{$dir}" seg="{$seg}" key="{$xway}.{$dir}.{$seg}.{$time idiv 60 + 1}"/>;

(: The notifications of a car that comes to a segment. :)
declare stream notification :=
  for $c in stream("crossing")/answer/crossing
  for $price allowing empty in stream("price")/answer/price[@key = $c/@key]
  for $danger allowing empty in stream("danger")/answer/danger[@key = $c/@key]
  return (
    <toll vid="{$c/@vid}" time="{$c/@time}" lav="{if (exists($price)) then $price/@lav else -1}"
      toll="{if (empty($price) or exists($danger)) then 0 else $price/@toll}"/>,
    if (exists($danger))
    then
      <accident vid="{$c/@vid}" time="{$c/@time}"
        seg="{if ($c/@dir = 0) then $c/@seg + $danger/@ahead else $c/@seg - $danger/@ahead}"/>
    else ());

declare stream request := stream("road")/road/(balance | expenditure | travel);

(: A toll is paid when the car is notified of the next one. :)
declare stream account :=
  for $q in stream("request")/answer/balance
  let $tolls :=
    for $n in stream("notification")/answer/toll
    where $n/@vid = $q/@vid and number($n/@time) le number($q/@time)
    return number($n/@toll)
  return
    <balance qid="{$q/@qid}" time="{$q/@time}" result="{$q/@time}"
      amount="{xs:integer(sum($tolls[position() lt last()]))}"/>;

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
