"""XML bytes to rows: one compiled pass, and what it looks up on its way."""
