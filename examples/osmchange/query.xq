(: What is on the map, and what it was called before. :)
stream("osm")/*/node?[now] ! concat("node ", @id, " ", tag[@k = "name"]/@v),
stream("osm")/*/way?[now] ! concat("way ", @id),
"names of node 1: " || string-join(stream("osm")/*/node[@id = "1"]/tag/@v, ", ")
