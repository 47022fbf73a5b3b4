(: How many notifications came, and which alarms are raised. :)
declare namespace n = "urn:ietf:params:xml:ns:netconf:notification:1.0";
declare namespace al = "urn:ietf:params:xml:ns:yang:ietf-alarms";
concat(count(stream("net")/*/n:notification), " notifications"),
stream("net")/*/al:alarm-notification?[now] ! concat(al:resource, " ", al:perceived-severity)
