"""What is kept of the fragments inside of units, by unit."""
