"""Maps and arrays, and options given as maps."""
