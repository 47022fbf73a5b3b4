"""Steps, paths, predicates and sets of nodes."""
