"""Rows with equal keys as groups, and the rows nested in them."""
