"""Streams of tuples: joins, groups, orders, windows."""
