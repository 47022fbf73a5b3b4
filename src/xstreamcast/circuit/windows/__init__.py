"""Window clauses over the items of an input: which can be kept, folded and partitioned."""
