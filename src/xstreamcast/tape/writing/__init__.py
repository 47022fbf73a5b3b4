"""Rows written: constructed and copied trees, and trees serialised as XML."""
