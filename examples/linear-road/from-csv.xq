(: The fifteen integers of each tuple as an element with the fields of its type: the input of the other queries. :)
<road>{
  for $t in stream("tuples")/road/row
  return
    if ($t/Type = 0) then
      <report time="{$t/Time}" vid="{$t/VID}" speed="{$t/Spd}" xway="{$t/XWay}" lane="{$t/Lane}" dir="{$t/Dir}" seg="{$t/Seg}"
        pos="{$t/Pos}"/>
    else if ($t/Type = 2) then <balance time="{$t/Time}" vid="{$t/VID}" qid="{$t/QID}"/>
    else if ($t/Type = 3) then <expenditure time="{$t/Time}" vid="{$t/VID}" xway="{$t/XWay}" qid="{$t/QID}" day="{$t/Day}"/>
    else if ($t/Type = 4) then
      <travel time="{$t/Time}" vid="{$t/VID}" xway="{$t/XWay}" qid="{$t/QID}" from="{$t/Sinit}" to="{$t/Send}" dow="{$t/DOW}"
        tod="{$t/TOD}"/>
    else ()
}</road>
