"""String and numeric values of nodes, read from their bytes."""
