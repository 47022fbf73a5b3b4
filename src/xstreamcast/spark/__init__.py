"""Imports pyspark; nothing else does."""
