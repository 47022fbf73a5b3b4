"""Fragments and units on tapes: located, spliced into holes, trimmed, clipped, wrapped."""
