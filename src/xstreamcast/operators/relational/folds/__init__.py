"""Folds: aggregates over groups, units and ranges, updated by what changed."""
