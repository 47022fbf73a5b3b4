(: Errors of a log that has no root, with their time. :)
declare namespace log4j = "http://jakarta.apache.org/log4j/";
for $e in stream("log")//log4j:event[@level = "ERROR"]
return concat($e/@vtFrom, " ", normalize-space($e/log4j:message))
