"""Order, positions, and the first rows of an order."""
