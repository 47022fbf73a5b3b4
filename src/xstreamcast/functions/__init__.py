"""What a query author can call by name: one row each, vectorised."""
