"""Steps along axes and node tests, for many rows at once."""
