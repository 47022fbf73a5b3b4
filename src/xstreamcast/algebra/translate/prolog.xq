(: ---- instants: what has no time zone counts as UTC, and is shown without one ---- :)

declare variable $xsc:start as xs:dateTime := xs:dateTime("-200000-01-01T00:00:00");

declare variable $xsc:never as xs:dateTime := xs:dateTime("200000-01-01T00:00:00");

declare function xsc:utc($instant as xs:dateTime) as xs:dateTime {
  fn:adjust-dateTime-to-timezone($instant, xs:dayTimeDuration("PT0S"))
};

declare function xsc:normal($instant as xs:dateTime) as xs:dateTime {
  if (fn:empty(fn:timezone-from-dateTime($instant))) then $instant else xsc:utc($instant)
};

(: What fn:current-dateTime() gives over streams: the instant of the clock. :)
declare function xsc:current() as xs:dateTime {
  fn:adjust-dateTime-to-timezone(xsc:utc($xsc:now))
};

declare function xsc:shown($instant as xs:dateTime) as xs:string {
  xs:string(xsc:normal($instant))
};

declare function xsc:instant($said as xs:anyAtomicType) as xs:dateTime {
  typeswitch ($said)
  case xs:dateTime return $said
  case xs:date return xs:dateTime($said)
  default return
    let $text := fn:replace(fn:normalize-space(xs:string($said)), "(\.\d{6})\d+", "$1")
    return
      if ($text = "now") then $xsc:now
      else if ($text = "start") then $xsc:start
      else if ($text castable as xs:date) then xs:dateTime(xs:date($text))
      else xs:dateTime($text)
};

declare function xsc:earlier($a as xs:dateTime, $b as xs:dateTime) as xs:dateTime {
  if (xsc:utc($b) lt xsc:utc($a)) then $b else $a
};

declare function xsc:later($a as xs:dateTime, $b as xs:dateTime) as xs:dateTime {
  if (xsc:utc($b) gt xsc:utc($a)) then $b else $a
};

(: ---- history: from the id of a fragment to its versions, in valid-time order ---- :)

declare function xsc:fragments($stream as document-node()) as element()* {
  $stream/*/(stream:filler | stream:repeat | stream:replace | stream:remove)
};

(: Without a valid time, a repeat of what its id said before says nothing. :)
declare function xsc:is_known($fragment as element()) as xs:boolean {
  $fragment instance of element(stream:repeat) and fn:empty($fragment/@validTime)
  and (some $earlier in $fragment/preceding-sibling::*[@id = $fragment/@id]
       satisfies fn:deep-equal($earlier/*, $fragment/*)
                 and xsc:said($earlier) = xsc:said($fragment))
};

declare function xsc:valid_time($fragment as element(), $number as xs:integer) as xs:dateTime {
  if ($fragment/@validTime) then xsc:normal(xsc:instant($fragment/@validTime))
  else xs:dateTime("1970-01-01T00:00:00") + $number * xs:dayTimeDuration("PT1S")
};

(: What moves the clock: message times, or valid times where a fragment has none, repetitions
   included; heartbeats. :)
declare function xsc:latest($streams as document-node()*) as xs:dateTime {
  let $all :=
    for $instant in
      for $stream in $streams
      return (
        for $fragment at $number in xsc:fragments($stream)
        return ($fragment/@messageTime ! xsc:normal(xsc:instant(.)),
                xsc:valid_time($fragment, $number))[1],
        $stream/*/stream:heartbeat/@validTime ! xsc:normal(xsc:instant(.)))
    order by xsc:utc($instant)
    return $instant
  return ($all[fn:last()], xs:dateTime("1970-01-01T00:00:00"))[1]
};

declare function xsc:types($stream as document-node()) as map(xs:string, xs:string) {
  map:merge(
    for $tag in $stream/*/stream:structure//*:tag[@id]
    return map:entry(xs:string($tag/@id), xs:string(($tag/@type, "snapshot")[1])),
    map { "duplicates": "use-last" })
};

(: The stream, where elements that the structure says are fragments are no part of others: QaC and
   QaC+ follow holes alone, and would not find them. :)
declare function xsc:cut_as_told($stream as document-node()) as document-node() {
  let $tags := $stream/*/stream:structure//*:tag[@id]
  let $found :=
    (for $fragment in xsc:fragments($stream)[*]
     return xsc:embedded($fragment/*, $tags[@id = $fragment/@tsid][1], $tags))[1]
  return
    if (fn:empty($found)) then $stream
    else fn:error(xs:QName("xsc:XSCF0009"), fn:concat("an element ", fn:name($found),
      " is embedded in its parent, though the structure says that it is a fragment: ",
      "translate with the strategy caq"))
};

declare function xsc:embedded($element as element(), $tag as element()?, $tags as element()*)
    as element()* {
  for $child in $element/*
  let $below := $tag/*:tag, $known := ($below, $tags[@id = $below/@ref])
  let $its := $known[@name = fn:local-name($child)]
                    [fn:concat(@uri, "") = xs:string(fn:namespace-uri($child))][1]
  where fn:exists($its)
  return
    if ($its/@type = ("temporal", "event", "filler") or $its/@filler = "true") then $child
    else xsc:embedded($child, $its, $tags)
};

(: What is valid after the horizon is not known yet. :)
declare function xsc:history($stream as document-node(), $horizon as xs:dateTime?)
    as map(xs:string, item()*) {
  xsc:history($stream, $horizon, fn:false())
};

(: $ahead: ends of versions are known although they come after the horizon; snapshots have none. :)
declare function xsc:history(
    $stream as document-node(), $horizon as xs:dateTime?, $ahead as xs:boolean)
    as map(xs:string, item()*) {
  let $types := xsc:types($stream)
  return map:merge((
    map:entry("&#9;roots", xsc:outermost($stream, $horizon)),
    for $fragment at $number in xsc:fragments($stream)
    let $valid := xsc:valid_time($fragment, $number)
    where (fn:empty($horizon) or xsc:utc($valid) le xsc:utc($horizon))
          and fn:not(xsc:is_known($fragment))
    group by $id := xs:string($fragment/@id)
    let $found := xsc:versions($fragment, $valid, $types, $horizon)
    let $known := if ($ahead) then xsc:versions_ahead($stream, $id, $types, $horizon) else ()
    return (map:entry($id, if ($ahead and $known?type = "temporal") then $known else $found),
            xsc:attachments($id, $fragment, $valid, $types))),
    map { "duplicates": "combine" })
};

(: Which ids are attached to which, below a key that no id has. :)
declare function xsc:attached_to($id as xs:string) as xs:string {
  "&#9;in " || $id
};

declare function xsc:attachments(
    $id as xs:string, $fragments as element()*, $valid as xs:dateTime*,
    $types as map(xs:string, xs:string)) as map(*)* {
  let $event := $fragments[fn:exists(*)]/@tsid ! $types(xs:string(.)) = "event"
  let $tsid := ($fragments[fn:exists(*)], $fragments)[1]/@tsid
  for $parent in fn:distinct-values($fragments/@in)
  return map:entry(xsc:attached_to($parent), map {
    "id": $id, "in": xs:string($parent), "tsid": $tsid, "event": $event,
    "first": fn:min($valid ! xsc:utc(.)) })
};

(: Versioned units by their id, behind them events by valid time and id; each as a hole. :)
declare function xsc:attached(
    $history as map(*), $id as xs:string, $lifespan as attribute()*) as element()* {
  for $one in $history(xsc:attached_to($id))
  order by $one?event, ($one?first)[$one?event] empty least,
           $one?id collation "http://www.w3.org/2005/xpath-functions/collation/codepoint"
  return element stream:hole {
    attribute id { $one?id }, attribute in { $one?in }, $one?tsid, $lifespan
  }
};

(: Of fragments of one id and instant, in order of arrival, the last counts; but a repeat of what any
   of them said brings nothing back that was corrected. :)
declare function xsc:counts($fragments as element()*) as element() {
  (for $fragment at $number in $fragments
   where fn:not($fragment instance of element(stream:repeat)
                and (some $earlier in fn:subsequence($fragments, 1, $number - 1)
                     satisfies fn:deep-equal($earlier/*, $fragment/*)
                               and xsc:said($earlier) = xsc:said($fragment)))
   order by xs:integer(($fragment/@version, 0)[1])
   return $fragment)[fn:last()]
};

declare function xsc:said($fragment as element()) as xs:string {
  fn:string-join(
    (($fragment/@tsid, $fragment/@in, $fragment/@version, $fragment/@temporary)
       ! (fn:local-name(.) || " " || .),
     $fragment/@validTo ! xs:string(xsc:utc(xsc:instant(.)))), "|")
};

(: The fragments of one id, in order of arrival. A remove has no content; a snapshot has no versions:
   it is what was said of it last. :)
declare function xsc:versions(
    $fragments as element()*, $valid as xs:dateTime*, $types as map(xs:string, xs:string),
    $horizon as xs:dateTime?) as map(*)* {
  let $said :=
    for $fragment at $number in $fragments
    let $from := $valid[$number]
    group by $instant := xsc:utc($from),
             $layer := $fragment/@temporary = "true"
                       and fn:not($types(xs:string($fragment/@tsid)) = "event")
    order by $instant
    let $last := xsc:counts($fragment)
    return map { "from": $last ! $from[fn:index-of($fragment ! fn:generate-id(.),
                                                   fn:generate-id($last))],
                 "content": $last/*, "temporary": $layer, "in": $last/@in ! xs:string(.),
                 "until": xsc:known_end($last, $horizon),
                 "type": ($types(xs:string($last/@tsid)), "snapshot")[1] }
  for $version in if ($said?temporary = fn:true()) then xsc:layers($said) else xsc:ended($said)
  where fn:exists($version?content)
  return
    switch ($version?type)
    case "snapshot" return if (fn:empty($version?end)) then map:remove($version, "from") else ()
    case "event" return map:put($version, "to", xsc:shown($version?from))
    default return
      if (fn:empty($version?end)) then map:put($version, "to", "now")
      else if (xsc:utc($version?end) le xsc:utc($version?from)) then ()
      else map:put($version, "to", xsc:shown($version?end))
};

(: Those that begin up to the horizon, by all that is known of the id. :)
declare function xsc:versions_ahead(
    $stream as document-node(), $id as xs:string, $types as map(xs:string, xs:string),
    $horizon as xs:dateTime?) as map(*)* {
  let $said :=
    for $fragment at $number in xsc:fragments($stream)
    where $fragment/@id = $id and fn:not(xsc:is_known($fragment))
    return map { "fragment": $fragment, "valid": xsc:valid_time($fragment, $number) }
  return xsc:versions($said?fragment, $said?valid, $types, ())
    [fn:empty(?from) or xsc:utc(?from) le xsc:utc($horizon)]
};

(: An end after the horizon is not known yet. :)
declare function xsc:known_end($fragment as element(), $horizon as xs:dateTime?) as xs:dateTime? {
  $fragment/@validTo ! xsc:normal(xsc:instant(.))
    [fn:empty($horizon) or xsc:utc(.) le xsc:utc($horizon)]
};

(: Each version ends where the next begins, or where it says. :)
declare function xsc:ended($said as map(*)*) as map(*)* {
  for $version at $number in $said
  let $next := $said[$number + 1]?from
  return map:put($version, "end",
    if (fn:empty($next)) then $version?until
    else if (fn:empty($version?until)) then $next
    else xsc:earlier($next, $version?until))
};

(: What is temporary hides the others while it lasts; they return when it ends. :)
declare function xsc:layers($said as map(*)*) as map(*)* {
  let $edges :=
    for $instant in $said ! (?from, ?until)
    group by $key := xsc:utc($instant)
    order by $key
    return $instant[1]
  let $holders := $edges ! xsc:holder($said, .)
  for $edge at $number in $edges
  let $holder := $holders[$number]
  where $holder > 0 and ($number = 1 or fn:not($holders[$number - 1] = $holder))
  let $after := (for $later at $k in $holders
                 where $k > $number and $later ne $holder return $k)[1]
  return map:put(map:put($said[$holder], "from", $edge), "end", $edges[$after])
};

(: Which version holds at an instant, 0 for none. :)
declare function xsc:holder($said as map(*)*, $instant as xs:dateTime) as xs:integer {
  let $begun :=
    for $version at $number in $said
    where xsc:utc($version?from) le xsc:utc($instant) return $number
  let $alive :=
    for $number in $begun, $until in ($said[$number]?until, $xsc:never)[1]
    where xsc:utc($until) gt xsc:utc($instant) return $number
  let $over := for $number in $alive where $said[$number]?temporary return $number
  let $under := for $number in $begun where fn:not($said[$number]?temporary) return $number
  return ($over[fn:last()], $under[fn:last()][. = $alive], 0)[1]
};

(: ---- the temporal view: a hole stands for all its versions ---- :)

(: What no hole is for: the ids with the outermost tag that name no parent. A structure may name the
   units alone; without one the root has the id 0. :)
declare function xsc:roots($history as map(*)) as element()* {
  $history("&#9;roots")
};

declare function xsc:outermost($stream as document-node(), $horizon as xs:dateTime?)
    as element()* {
  let $fragments := xsc:fragments($stream)
  let $root := ($stream/*/stream:structure/*:tag)[1]/@id
  let $inside := ($fragments//stream:hole/@id, $fragments[@tsid = $root][@in]/@id)
  return
    if (fn:empty($root)) then <stream:hole id="0"/>
    else
      for $fragment at $number in $fragments
      let $valid := xsc:utc(xsc:valid_time($fragment, $number))
      where $fragment/@tsid = $root and fn:not($fragment/@id = $inside)
            and (fn:empty($horizon) or $valid le xsc:utc($horizon))
      group by $id := xs:string($fragment/@id)
      order by fn:min($valid),
               $id collation "http://www.w3.org/2005/xpath-functions/collation/codepoint"
      return <stream:hole id="{ $id }"/>
};

(: A hole in a version of a temporal element carries the lifespan of that version: what fills the
   hole is clipped to it. An event does not clip; a snapshot passes on what it was given. :)
declare function xsc:clipped($version as map(*), $hole as element()) as map(*)? {
  let $from := $hole/@vtFrom ! xsc:instant(.), $to := $hole/@vtTo
  return
    if (fn:empty($from)) then $version
    else switch ($version?type)
      case "snapshot" return
        map:put(map:put($version, "from", $from), "to", xs:string($to))
      case "event" return
        $version[xsc:utc(?from) ge xsc:utc($from)
                 and ($to = "now" or xsc:utc(?from) lt xsc:utc(xsc:instant($to)))]
      default return
        let $begin := xsc:later($version?from, $from)
        let $end :=
          if ($version?to = "now") then xs:string($to)
          else if ($to = "now") then $version?to
          else xsc:shown(xsc:earlier(xsc:instant($version?to), xsc:instant($to)))
        where $end = "now" or xsc:utc($begin) lt xsc:utc(xsc:instant($end))
        return map:put(map:put($version, "from", $begin), "to", $end)
};

(: What would stand below itself is left out there; a hole says what is around it. :)
declare function xsc:fillings($history as map(*), $hole as element()) as map(*)* {
  if (fn:tokenize($hole/@around) = xsc:word($hole/@id)) then ()
  else
    $history(xs:string($hole/@id))[fn:empty($hole/@in) or ?in = $hole/@in] ! xsc:clipped(., $hole)
};

declare function xsc:word($id as xs:string) as xs:string {
  fn:string-join(fn:string-to-codepoints($id) ! xs:string(.), "-")
};

(: The versions that fill the holes, as elements with their lifespans and with holes of their own. :)
declare function xsc:get_fillers($history as map(*), $holes as element()*) as element()* {
  for $hole in $holes, $version in xsc:fillings($history, $hole)
  let $content := $version?content
  let $lifespan :=
    if ($version?type = "snapshot") then ()
    else (attribute vtFrom { xsc:shown($version?from) }, attribute vtTo { $version?to })
  return element { fn:node-name($content) } {
    xsc:bindings($content), xsc:bindings_around($content, $hole),
    $content/@*[fn:empty($lifespan) or fn:not(fn:node-name(.) = $lifespan ! fn:node-name(.))],
    $lifespan, xsc:stamped($content/node(), xsc:inner($version, $hole)),
    xsc:attached($history, $hole/@id, xsc:inner($version, $hole))
  }
};

(: Elements as they are, holes as what fills them. :)
declare function xsc:fill($history as map(*), $nodes as element()*) as element()* {
  for $node in $nodes
  return if ($node instance of element(stream:hole)) then xsc:get_fillers($history, $node) else $node
};

(: The holes of these tags in what fills the holes: nothing but links is looked at. :)
declare function xsc:holes_below(
    $history as map(*), $holes as element()*, $tsids as xs:string*) as element()* {
  for $hole in $holes, $version in xsc:fillings($history, $hole),
      $below in ($version?content//stream:hole, xsc:attached_below($history, $hole, $version))
                [@tsid = $tsids]
  return element stream:hole {
    xsc:bindings($below), xsc:bindings_around($below, $hole),
    $below/@id, $below/@tsid, $below/@in, xsc:inner($version, $hole)
  }
};

declare function xsc:attached_below(
    $history as map(*), $hole as element(), $version as map(*)) as element()* {
  for $below in xsc:attached($history, $hole/@id, ())
  return element stream:hole { xsc:bindings($version?content), $below/@* }
};

(: What the holes of a version carry: what is around them, and the lifespan that clips. :)
declare function xsc:inner($version as map(*), $hole as element()) as attribute()* {
  attribute around { $hole/@around, xsc:word($hole/@id) },
  if ($version?type = "event" or fn:empty($version?from)) then ()
  else (attribute vtFrom { xsc:shown($version?from) }, attribute vtTo { $version?to })
};

declare function xsc:stamped($nodes as node()*, $lifespan as attribute()*) as node()* {
  for $node in $nodes
  return
    typeswitch ($node)
    case element(stream:hole) return element stream:hole { $node/@id, $node/@tsid, $node/@in, $lifespan }
    case element() return xsc:rebuilt($node, $node/@*, xsc:stamped($node/node(), $lifespan))
    default return $node
};

declare function xsc:temporalize($history as map(*), $nodes as node()*) as node()* {
  for $node in $nodes
  return
    typeswitch ($node)
    case element(stream:hole) return
      xsc:temporalize($history, xsc:get_fillers($history, $node))
    case element() return
      if (fn:empty($node//stream:hole)) then $node
      else xsc:rebuilt($node, $node/@*, xsc:temporalize($history, $node/node()))
    default return $node
};

declare function xsc:view($history as map(*)) as document-node() {
  document { xsc:temporalize($history, xsc:get_fillers($history, xsc:roots($history))) }
};

(: A new element like another; the namespace of the wire stays behind. :)
declare function xsc:rebuilt(
    $like as element(), $attributes as attribute()*, $content as node()*) as element() {
  element { fn:node-name($like) } { xsc:bindings($like), $attributes, $content }
};

declare function xsc:bindings($element as element()) as namespace-node()* {
  for $prefix in fn:in-scope-prefixes($element)[fn:not(. = "xml")]
  let $uri := fn:namespace-uri-for-prefix($prefix, $element)
  where fn:not($uri = "urn:xstreamcast:stream")
        and ($prefix ne "" or fn:namespace-uri($element) ne "")
  return namespace { $prefix } { $uri }
};

(: What fills a hole has the prefixes that are bound above it, but for those it binds itself. :)
declare function xsc:bindings_around($element as element(), $hole as element())
    as namespace-node()* {
  xsc:bindings($hole)[fn:not(fn:name(.) = ("", fn:in-scope-prefixes($element)))]
};

(: ---- lifespans ---- :)

declare function xsc:span($from as xs:dateTime, $to as xs:dateTime) as map(*) {
  map { "from": $from, "to": $to }
};

declare function xsc:interval($from as xs:anyAtomicType, $to as xs:anyAtomicType) as map(*) {
  xsc:span(xsc:instant($from), xsc:instant($to))
};

declare function xsc:lifespan($item as item()) as map(*) {
  typeswitch ($item)
  case element() return
    if ($item/@vtFrom and $item/@vtTo) then xsc:interval($item/@vtFrom, $item/@vtTo)
    else (xsc:cover($item/*), xsc:span($xsc:start, $xsc:now))[1]
  case document-node() return (xsc:cover($item/*), xsc:span($xsc:start, $xsc:now))[1]
  case node() return ($item/.. ! xsc:lifespan(.), xsc:span($xsc:start, $xsc:now))[1]
  default return xsc:span($xsc:start, $xsc:now)
};

(: The smallest lifespan that covers those of the items. :)
declare function xsc:cover($items as item()*) as map(*)? {
  if (fn:empty($items)) then ()
  else
    let $spans := $items ! xsc:lifespan(.)
    return xsc:span(
      fn:fold-left(fn:tail($spans)?from, fn:head($spans)?from, xsc:earlier#2),
      fn:fold-left(fn:tail($spans)?to, fn:head($spans)?to, xsc:later#2))
};

declare function xsc:vtFrom($items as item()*) as xs:dateTime? {
  xsc:cover($items)?from
};

declare function xsc:vtTo($items as item()*) as xs:dateTime? {
  xsc:cover($items)?to
};

(: Allen's comparison of two lifespans; of several, one pair is enough. :)
declare function xsc:allen($word as xs:string, $left as map(*)*, $right as map(*)*) as xs:boolean {
  some $a in $left, $b in $right satisfies
    let $a1 := xsc:utc($a?from), $a2 := xsc:utc($a?to)
    let $b1 := xsc:utc($b?from), $b2 := xsc:utc($b?to)
    return
      switch ($word)
      case "before" return $a2 lt $b1
      case "after" return $a1 gt $b2
      case "meets" return $a2 eq $b1
      case "overlaps" return $a1 lt $b1 and $b1 lt $a2 and $a2 lt $b2
      case "during" return $a1 gt $b1 and $a2 lt $b2
      case "contains" return $a1 lt $b1 and $a2 gt $b2
      case "starts" return $a1 eq $b1 and $a2 lt $b2
      case "finishes" return $a2 eq $b2 and $a1 gt $b1
      default return $a1 eq $b1 and $a2 eq $b2
};

(: ---- projections: parentless copies ---- :)

(: A lifespan holds its end if nothing superseded it there: up to now, and events. :)
declare function xsc:closed($element as element()) as xs:boolean {
  $element/@vtTo = "now" or xsc:is_instant($element)
};

declare function xsc:is_instant($element as element()) as xs:boolean {
  fn:not($element/@vtTo = "now")
  and xsc:utc(xsc:instant($element/@vtFrom)) eq xsc:utc(xsc:instant($element/@vtTo))
};

declare function xsc:interval_projection(
    $items as item()*, $begin as xs:anyAtomicType?, $end as xs:anyAtomicType?) as item()* {
  for $tb in $begin ! xsc:instant(.), $te in $end ! xsc:instant(.)
  where xsc:utc($tb) le xsc:utc($te)
  return $items ! xsc:sliced(., $tb, $te, fn:true(), fn:true(), $tb)
};

(: e?[now]: what lives now, with the lifespan that it has. :)
declare function xsc:current_projection($items as item()*) as item()* {
  $items ! xsc:sliced(., $xsc:now, $xsc:now, fn:true(), fn:true(), $xsc:start)
};

(: Bounds of what several intervals have in common; none if one of them has none. :)
declare function xsc:latest_of($bounds as xs:anyAtomicType*, $count as xs:integer) as xs:dateTime? {
  (for $bound in $bounds ! xsc:instant(.)
   where fn:count($bounds) eq $count
   order by xsc:utc($bound) descending
   return $bound)[1]
};

declare function xsc:earliest_of($bounds as xs:anyAtomicType*, $count as xs:integer) as xs:dateTime? {
  (for $bound in $bounds ! xsc:instant(.)
   where fn:count($bounds) eq $count
   order by xsc:utc($bound)
   return $bound)[1]
};

(: The part of a tree that lives between two instants; $closed: the second belongs to it; $least:
   no lifespan begins before. :)
declare function xsc:sliced(
    $item as item(), $tb as xs:dateTime, $te as xs:dateTime,
    $closed as xs:boolean, $below_events as xs:boolean, $least as xs:dateTime) as item()? {
  typeswitch ($item)
  case document-node() return
    document { $item/node() ! xsc:sliced(., $tb, $te, $closed, $below_events, $least) }
  case element() return
    if (fn:not($item/@vtFrom and $item/@vtTo)) then
      xsc:rebuilt($item, $item/@*,
        $item/node() ! xsc:sliced(., $tb, $te, $closed, $below_events, $least))
    else if (fn:not(xsc:alive($item, $tb, $te, $closed))) then ()
    else xsc:rebuilt($item,
      ($item/@*[fn:not(fn:node-name(.) = (fn:QName("", "vtFrom"), fn:QName("", "vtTo")))],
       attribute vtFrom { xsc:shown(xsc:later(xsc:instant($item/@vtFrom), $least)) },
       attribute vtTo { xsc:end($item, $te) }),
      if ($below_events or fn:not(xsc:is_instant($item)))
      then $item/node() ! xsc:sliced(., $tb, $te, $closed, $below_events, $least)
      else $item/node())
  default return $item
};

declare function xsc:end($element as element(), $te as xs:dateTime) as xs:string {
  if (fn:not($element/@vtTo = "now")) then
    xsc:shown(xsc:earlier(xsc:instant($element/@vtTo), $te))
  else if (xsc:is_planned($element)) then if ($te eq $xsc:never) then "now" else xsc:shown($te)
  else if (xsc:utc($te) ge xsc:utc($xsc:now)) then "now"
  else xsc:shown($te)
};

(: It begins after now and nothing supersedes it: it lives on, as far as anybody planned. :)
declare function xsc:is_planned($element as element()) as xs:boolean {
  $element/@vtTo = "now" and xsc:utc(xsc:instant($element/@vtFrom)) gt xsc:utc($xsc:now)
};

declare function xsc:alive(
    $element as element(), $tb as xs:dateTime, $te as xs:dateTime, $closed as xs:boolean)
    as xs:boolean {
  let $from := xsc:utc(xsc:instant($element/@vtFrom)), $to := xsc:utc(xsc:instant($element/@vtTo))
  return
    ($from lt xsc:utc($te) or ($closed and $from eq xsc:utc($te)))
    and ($to gt xsc:utc($tb) or (xsc:closed($element) and $to eq xsc:utc($tb))
         or xsc:is_planned($element))
};

declare function xsc:version_projection(
    $items as item()*, $first as xs:integer?, $last as xs:integer?) as item()* {
  for $item at $number in $items
  where $number ge $first and $number le $last
  return
    typeswitch ($item)
    case element() return
      xsc:rebuilt($item, $item/@*,
        if ($item/@vtFrom and $item/@vtTo and fn:not(xsc:is_instant($item)))
        then $item/node() !
          xsc:sliced(., xsc:instant($item/@vtFrom),
                     if ($item/@vtTo = "now") then $xsc:never else xsc:instant($item/@vtTo),
                     $item/@vtTo = "now", fn:false(), xsc:instant($item/@vtFrom))
        else $item/node())
    default return $item
};

(: ---- planned states: what is valid after now, for projections that reach it ---- :)

(: Of each element of a view a key that tells it from the others, in document order. What fills a
   hole is the same below the same fragment; a snapshot is the same whatever it says. :)
declare function xsc:keys($history as map(*), $holes as element()*, $above as xs:string)
    as xs:string* {
  for $hole in $holes, $version in xsc:fillings($history, $hole)
  let $content := $version?content
  let $this := if ($version?type = "snapshot") then "" else fn:generate-id($content)
  let $key := $above || "/" || $hole/@id || "@" || $this
  return (
    for $element at $number in $content/descendant-or-self::*
    return
      if ($element instance of element(stream:hole)) then
        let $same := $content//stream:hole[@id = $element/@id][. << $element]
        return xsc:keys($history, xsc:stamped($element, xsc:inner($version, $hole)),
                        $key || "~" || fn:count($same))
      else if ($number = 1) then $key
      else $key || "#" || fn:generate-id($element),
    for $element in xsc:attached($history, $hole/@id, xsc:inner($version, $hole))
    return xsc:keys($history, $element, $key || "~0"))
};

(: From the elements of a view to their keys, and from the keys to the elements as of each planned
   instant. :)
declare function xsc:plan(
    $stream as document-node(), $view as document-node(), $history as map(*)) as map(*) {
  map {
    "keys": map:merge((
      map:entry(fn:generate-id($view), "document"),
      fn:for-each-pair($view//*, xsc:keys($history, xsc:roots($history), ""),
        function($element, $key) { map:entry(fn:generate-id($element), $key) }))),
    "views":
      (: before the first of them nothing else is there, but ends are known :)
      for $instant in fn:distinct-values((
        xsc:utc($xsc:now + xs:dayTimeDuration("PT0.000001S")),
        for $fragment at $number in xsc:fragments($stream)
        return (xsc:utc(xsc:valid_time($fragment, $number)),
                $fragment/@validTo ! xsc:utc(xsc:instant(.)))))
      where $instant gt xsc:utc($xsc:now)
      order by $instant
      let $later := xsc:history($stream, $instant, fn:true()), $reached := xsc:view($later)
      return map { "instant": $instant, "nodes": map:merge((
        map:entry("document", $reached),
        fn:for-each-pair($reached//*, xsc:keys($later, xsc:roots($later), ""),
          function($element, $key) { map:entry($key, $element) }))) }
  }
};

(: Nodes of views as of now, as they are in the view of all that is valid up to an instant. :)
declare function xsc:reached($items as item()*, $end as xs:anyAtomicType?) as item()* {
  for $item in $items
  let $known := $item[. instance of node()] !
    (for $plan in $xsc:plans
     let $key := $plan?keys(fn:generate-id($item))
     where fn:exists($key) and fn:exists($end)
     return $plan?views[?instant le xsc:utc(xsc:instant($end))][fn:last()] ! ?nodes($key))
  return ($known, $item)[1]
};
