"""Items of an answer as others read them: text, XML, records, Python values."""
