"""How a feed becomes fragments: what is a unit, its key, its times, its operation."""
