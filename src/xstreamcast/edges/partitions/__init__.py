"""A continuous query in several places: what each of them does, and what they say to each other."""
