"""A query that stays: one alone, several as one, several that read each other."""
