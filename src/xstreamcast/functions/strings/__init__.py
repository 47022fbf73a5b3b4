"""Strings: built, searched, matched, compared by collations."""
