"""Partial values of a query that is evaluated once: as tasks send them, and combined."""
