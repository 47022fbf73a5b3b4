"""The rules for frames of one row: Python values where they suffice, columns where they do not.

A rule here adds no semantics: it returns what the rule for columns returns, or hands its operands
to that one. Recursion over small sequences is evaluated one row at a time.
"""
