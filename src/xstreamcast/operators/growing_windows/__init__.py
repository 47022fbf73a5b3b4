"""Windows item by item: items that are still needed, windows that are still open."""
