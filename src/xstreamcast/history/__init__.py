"""Remembers fragments: versions by id, holes, temporal view, what may be forgotten."""
