"""Joins: pairs of rows by equal values, by order, by intervals."""
