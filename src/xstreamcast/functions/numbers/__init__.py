"""Numbers: arithmetic, rounding, mathematics, random numbers."""
