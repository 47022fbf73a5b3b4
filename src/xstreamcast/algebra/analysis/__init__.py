"""What is known of a plan before it runs: kinds, times, what it reads of its streams."""
