"""How a query is computed as deltas come: the physical plan of a continuous query."""
