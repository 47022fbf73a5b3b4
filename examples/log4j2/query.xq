(: Errors of a log whose root never closes, with their time. :)
declare namespace l = "http://logging.apache.org/log4j/2.0/events";
for $e in stream("log")//l:Event[@level = "ERROR"]
return concat($e/@vtFrom, " ", $e/l:Message)
