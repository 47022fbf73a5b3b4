"""JSON: texts read as maps and arrays or as XML, and XML written as JSON."""
