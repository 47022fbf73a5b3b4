(: The last report of each aerodrome, and the SIGMETs in force. :)
for $m in stream("met")//*:METAR?[now]
return concat($m//*:locationIndicatorICAO, " ", $m//*:airTemperature, " degrees"),
stream("met")//*:SIGMET?[now] ! concat("SIGMET ", *:sequenceNumber)
