"""Compiled loops over arrays that know neither XML nor plans."""
