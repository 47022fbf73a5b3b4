"""Fragments and their versions: chained, placed in a view, spliced, trimmed, clipped, wrapped."""
