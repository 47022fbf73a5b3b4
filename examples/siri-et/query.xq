(: How the delay at the first stop was estimated, in the order of what was recorded: the third file came late. :)
declare namespace s = "http://www.siri.org.uk/siri";
for $j in stream("et")//s:EstimatedVehicleJourney
let $c := $j/s:EstimatedCalls/s:EstimatedCall[1]
return concat($j//s:DatedVehicleJourneyRef, " ", $j/s:RecordedAtTime, " ",
              xs:dateTime($c/s:ExpectedArrivalTime) - xs:dateTime($c/s:AimedArrivalTime))
