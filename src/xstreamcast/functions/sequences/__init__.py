"""Sequences: which items, in what order, aggregates over them."""
