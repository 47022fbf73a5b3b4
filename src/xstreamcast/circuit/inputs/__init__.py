"""How inputs are cut into units, which units can count, and what waits for their end."""
