"""Computes a column from columns and keeps nothing between batches."""
