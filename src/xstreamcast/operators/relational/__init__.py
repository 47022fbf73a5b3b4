"""Incremental operators over relations: a delta in, a delta out."""
