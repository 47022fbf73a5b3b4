"""A circuit evaluated once, over ranges of units: the parts that tasks compute."""
