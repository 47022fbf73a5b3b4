"""The nodes of a plan, by what they compute."""
