"""Constructed nodes: names, content, and how all rows are written at once."""
