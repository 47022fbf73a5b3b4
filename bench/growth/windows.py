"""The queries of the FORSEQ paper as the corpus has them, and windows that people ask for."""

from bench.growth.entry import Entry
from bench.growth.readings import (
    ALMOST_SORTED,
    CLICK,
    CLICKS,
    CLOSING,
    CLOSINGS,
    DAY,
    DAYS,
    ENTRY,
    LETTER,
    LETTERS,
    LOCAL,
    LOCALS,
    LOG,
    MARKED,
    MARKS,
    NUMBER,
    NUMBERS,
    OUT_OF_ORDER,
    PACKET,
    PACKETS,
    POSTING,
    POSTINGS,
    RARE,
    RARES,
    STATE,
    STATES,
    TEMPERATURE,
    TEMPERATURES,
)

HOUR = 'xs:dayTimeDuration("PT1H")'

FORSEQ = (
    Entry(
        "forseq authors",
        "three postings in a row (figure 2)",
        """forseq $w in stream("s")/r/v tumbling window
  start curItem $first when fn:true()
  end nextItem $lookAhead when $first/author ne $lookAhead/author
where count($w) ge 3
return $w[1]/author""",
        POSTINGS, POSTING, POSTING,
        plain="""for tumbling window $w in stream("s")/r/v
  start $first when true() end next $n when not($first/author = $n/author)
where count($w) ge 3
return $w[1]/author""",
    ),
    Entry(
        "forseq authors joined",
        "the same by positions (figure 1)",
        """let $rssfeed := stream("s")/r/v
for $first at $i in $rssfeed
let $second := $rssfeed[$i + 1]
let $third := $rssfeed[$i + 2]
where ($first/author = $second/author) and ($first/author = $third/author)
return $first/author""",
        POSTINGS, POSTING, POSTING,
    ),
    Entry(
        "forseq each",
        "a window for each item: the for clause",
        """forseq $w in stream("s")/r/v tumbling window start when fn:true() end when fn:true()
return <w>{ $w/text() }</w>""",
        NUMBERS, NUMBER, NUMBER,
        plain="""for $w in stream("s")/r/v return <w>{ $w/text() }</w>""",
    ),
    Entry(
        "forseq one",
        "one window for all items: the let clause",
        """forseq $w in stream("s")/r/v tumbling window start when fn:true() end when fn:false()
return sum($w)""",
        NUMBERS, NUMBER, NUMBER,
        plain="""let $w := stream("s")/r/v return sum($w)""",
    ),
    Entry(
        "forseq three",
        "tumbling windows of three items",
        """forseq $x in stream("s")/r/v tumbling window
  start position $i when fn:true() end position $j when $j - $i eq 2
return string-join($x, " ")""",
        NUMBERS, NUMBER, NUMBER,
        plain="""for tumbling window $x in stream("s")/r/v start at $i when true()
  end at $j when $j - $i eq 2 return string-join($x, " ")""",
    ),
    Entry(
        "forseq general",
        "all subsequences of four marked items",
        """forseq $w in stream("s")/r/v[@rare] return string-join($w, "-")""",
        RARES, RARE, RARE, quiet="new",
        plain="""declare function local:of($v as xs:string*) as xs:string* {
  if (empty($v)) then "" else
  let $rest := local:of(tail($v)) return ($rest ! concat($v[1], "-", .), $rest)
};
let $v := stream("s")/r/v[@rare]/string()
for $last at $e in $v
return local:of($v[position() < $e]) ! concat(., $last)""",
    ),
    Entry(
        "forseq force",
        "only windows that end by their condition",
        """forseq $w in stream("s")/r/v tumbling window
  start when fn:true() force end curItem $e when $e eq 'c'
return string-join($w, "")""",
        CLOSINGS, CLOSING, CLOSING,
        plain="""for tumbling window $w in stream("s")/r/v start when true()
  only end $e when $e eq 'c' return string-join($w, "")""",
    ),
    Entry(
        "forseq newstart",
        "a day begins when the alarm clock rings",
        """forseq $w in stream("s")/r/v tumbling window
  start curItem $s when $s eq 'ring' end when newstart
return string-join($w, " ")""",
        DAYS, DAY, DAY,
        plain="""for tumbling window $w in stream("s")/r/v start $s when $s eq 'ring'
  end next $n when $n eq 'ring' return string-join($w, " ")""",
    ),
    Entry(
        "forseq hour",
        "tumbling windows of an hour",
        f"""forseq $w in stream("s")/r/v tumbling window
  start curItem $first when fn:true()
  end curItem $last when xs:dateTime($last/@t) - xs:dateTime($first/@t) ge {HOUR}
return <hour from="{{ $w[1]/@t }}">{{ sum($w) }}</hour>""",
        NUMBERS, NUMBER, NUMBER,
        plain=f"""for tumbling window $w in stream("s")/r/v start $first when true()
  end $last when xs:dateTime($last/@t) - xs:dateTime($first/@t) ge {HOUR}
return <hour from="{{ $w[1]/@t }}">{{ sum($w) }}</hour>""",
    ),
    Entry(
        "forseq alarm",
        "temperatures of ten or more",
        """for $m in stream("s")/r/v where $m >= 10 return <alarm>{ $m }</alarm>""",
        TEMPERATURES, TEMPERATURE, TEMPERATURE,
    ),
    Entry(
        "forseq maximum",
        "the largest of all measurements",
        """fn:max(stream("s")/r/v/xs:integer(.))""",
        NUMBERS, NUMBER, NUMBER,
    ),
    Entry(
        "forseq average",
        "moving average of three",
        """forseq $w in stream("s")/r/v sliding window
  start position $s when fn:true() end position $e when $e - $s eq 2
return fn:avg($w)""",
        NUMBERS, NUMBER, NUMBER,
        plain="""for sliding window $w in stream("s")/r/v start at $s when true()
  end at $e when $e - $s eq 2 return avg($w)""",
    ),
    Entry(
        "forseq sessions",
        "from login to logout, for each user",
        """for $u in fn:distinct-values(stream("s")/r/v/user)
forseq $w in stream("s")/r/v[user eq $u] tumbling window
  start curItem $in when $in/op eq 'login'
  end curItem $out when $out/op eq 'logout'
return <session user="{ $u }">{ count($w) }</session>""",
        LOG, ENTRY, ENTRY,
        plain="""for $u in distinct-values(stream("s")/r/v/user)
for tumbling window $w in stream("s")/r/v[user eq $u]
  start $in when $in/op eq 'login' end $out when $out/op eq 'logout'
return <session user="{ $u }">{ count($w) }</session>""",
    ),
    Entry(
        "forseq sorting",
        "an almost sorted sequence put in order",
        """declare execution sequential;
declare variable $runMax as xs:integer := 0;
forseq $w in stream("s")/r/v/xs:integer(.) sliding window
  start position $s when fn:true() end position $e when $e - $s eq 2
return
  for $x in $w
  where $x gt $runMax and $x le $w[1]
  order by $x
  return { set $runMax := $x; $x }""",
        ALMOST_SORTED, OUT_OF_ORDER, OUT_OF_ORDER,
        plain="""let $seq := stream("s")/r/v/xs:integer(.)
return tail(fold-left(1 to count($seq), 0, function($known, $i) {
  let $w := subsequence($seq, $i, 3)
  let $new := sort($w[. gt $known[1] and . le $w[1]])
  return (($new[last()], $known[1])[1], tail($known), $new)
}))""",
    ),
    Entry(
        "forseq states",
        "the last value of eight sensors after each measurement",
        """forseq $w in stream("s")/r/v landmark window
  start position $s when $s eq 1 end when fn:true()
return <values>{
  for $id in fn:distinct-values($w/@id) return $w[@id eq $id][last()]
}</values>""",
        STATES, STATE, STATE,
        plain="""let $all := stream("s")/r/v
for $e in 1 to count($all)
let $w := subsequence($all, 1, $e)
return <values>{
  for $id in distinct-values($w/@id) return $w[@id eq $id][last()]
}</values>""",
    ),
    Entry(
        "forseq S to E filtered",
        "landmark windows, chosen by where",
        """forseq $w in stream("s")/r/v landmark window
  start when fn:true() end when fn:true()
where $w[1] eq 'S' and $w[last()] eq 'E' return count($w)""",
        MARKS, MARKED, MARKED,
        plain="""let $v := stream("s")/r/v/string()
for $e in index-of($v, "E"), $b in index-of($v, "S") where $b <= $e return $e - $b + 1""",
    ),
    Entry(
        "forseq S to E",
        "landmark windows, chosen by their boundaries",
        """forseq $w in stream("s")/r/v landmark window
  start curItem $s when $s eq 'S' force end curItem $e when $e eq 'E'
return count($w)""",
        MARKS, MARKED, MARKED,
        plain="""let $v := stream("s")/r/v/string()
for $e in index-of($v, "E"), $b in index-of($v, "S") where $b <= $e return $e - $b + 1""",
    ),
    Entry(
        "forseq a to c sliding",
        "sliding windows that could as well tumble",
        """forseq $w in stream("s")/r/v sliding window
  start curItem $s when $s eq 'a' end curItem $e when $e eq 'c'
return string-join($w, "")""",
        LETTERS, LETTER, LETTER,
        plain="""for sliding window $w in stream("s")/r/v start $s when $s eq 'a'
  end $e when $e eq 'c' return string-join($w, "")""",
    ),
    Entry(
        "forseq a to c tumbling",
        "the same, tumbling",
        """forseq $w in stream("s")/r/v tumbling window
  start curItem $s when $s eq 'a' end curItem $e when $e eq 'c'
return string-join($w, "")""",
        LETTERS, LETTER, LETTER,
        plain="""for tumbling window $w in stream("s")/r/v start $s when $s eq 'a'
  end $e when $e eq 'c' return string-join($w, "")""",
    ),
    Entry(
        "forseq same id",
        "landmark windows whose first and last item have one id",
        """forseq $w in stream("s")/r/v landmark window
  start curItem $s when fn:true() force end curItem $e when $s/@id eq $e/@id
return <w id="{ $w[1]/@id }">{ count($w) }</w>""",
        LOCALS, LOCAL, LOCAL,
        plain="""let $v := stream("s")/r/v
for $last at $e in $v
for $first at $b in subsequence($v, 1, $e) where $first/@id eq $last/@id
return <w id="{ $first/@id }">{ $e - $b + 1 }</w>""",
    ),
)  # fmt: skip

ASKED = (
    Entry(
        "window tumbling sum",
        "sums of ten measurements in a row",
        """for tumbling window $w in stream("s")/r/v start at $s when true()
  end at $e when $e - $s = 9
return <ten first="{ $w[1]/@n }">{ sum($w) }</ten>""",
        NUMBERS, NUMBER, NUMBER,
    ),
    Entry(
        "window sliding maximum",
        "the largest of each twenty in a row",
        """for sliding window $w in stream("s")/r/v start at $s when true()
  only end at $e when $e - $s = 19
return max($w/xs:integer(.))""",
        NUMBERS, NUMBER, NUMBER,
    ),
    Entry(
        "window per sensor average",
        "moving average of three for each sensor",
        """for $v in stream("s")/r/v
group by $id := $v/@id
order by $id
return <sensor id="{ $id }">{
  for sliding window $w in $v start at $s when true() only end at $e when $e - $s = 2
  return <avg>{ avg($w) }</avg>
}</sensor>""",
        NUMBERS, NUMBER, NUMBER,
    ),
    Entry(
        "window sessions by pause",
        "clicks until a pause of half an hour",
        """for tumbling window $w in stream("s")/r/v start when true()
  end $e next $n when
    xs:dateTime($n/@t) - xs:dateTime($e/@t) > xs:dayTimeDuration("PT30M")
return <session from="{ $w[1]/@t }" clicks="{ count($w) }">{ sum($w) }</session>""",
        CLICKS, CLICK, CLICK,
    ),
    Entry(
        "window gaps",
        "missing sequence numbers",
        """for sliding window $w in stream("s")/r/v start $a at $s when true()
  only end $b at $e when $e - $s = 1
where xs:integer($b/@seq) - xs:integer($a/@seq) > 1
return <gap after="{ $a/@seq }" before="{ $b/@seq }"/>""",
        PACKETS, PACKET, PACKET,
    ),
    Entry(
        "window previous item",
        "the difference of each to the one before",
        """for sliding window $w in stream("s")/r/v start $a at $s when true()
  only end $b at $e when $e - $s = 1
return xs:integer($b) - xs:integer($a)""",
        NUMBERS, NUMBER, NUMBER,
    ),
    Entry(
        "window day",
        "count, sum and maximum of each day",
        """for tumbling window $w in stream("s")/r/v start $s when true()
  end next $n when substring($n/@t, 1, 10) ne substring($s/@t, 1, 10)
return <day date="{ substring($s/@t, 1, 10) }" n="{ count($w) }" max="{ max($w/xs:integer(.)) }">{
  sum($w/xs:integer(.)) }</day>""",
        NUMBERS, NUMBER, NUMBER,
    ),
    Entry(
        "window largest session",
        "the most clicks of any session: an aggregate over windows",
        """max(for tumbling window $w in stream("s")/r/v start when true()
  end $e next $n when
    xs:dateTime($n/@t) - xs:dateTime($e/@t) > xs:dayTimeDuration("PT30M")
return sum($w))""",
        CLICKS, CLICK, CLICK,
    ),
    Entry(
        "window ordered",
        "the five largest sums of ten in a row: an order over windows",
        """(for tumbling window $w in stream("s")/r/v start at $s when true()
  end at $e when $e - $s = 9
let $sum := sum($w)
order by $sum descending, xs:integer($w[1]/@n)
return <ten first="{ $w[1]/@n }">{ $sum }</ten>)[position() <= 5]""",
        NUMBERS, NUMBER, NUMBER,
    ),
)  # fmt: skip

WINDOWS = (*FORSEQ, *ASKED)
