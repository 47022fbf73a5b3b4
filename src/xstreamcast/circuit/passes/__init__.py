"""Passes over a circuit: what its relations are known to be, and cheaper forms of it."""
