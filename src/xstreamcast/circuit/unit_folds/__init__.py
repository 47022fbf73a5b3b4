"""Folds over fragments inside of units, kept where the units are read."""
