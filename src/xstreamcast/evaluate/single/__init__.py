"""The rules for frames of one row: Python values where they suffice, columns where they do not.

A rule here says nothing of its own: it gives what the rule for columns gives, or hands its operands
to that one. Recursion over small sequences is evaluated one row at a time.
"""
