"""Declared functions over atomic values as Python functions: what recursion calls most often.

Source text of Python is written for a function whose values are integers, doubles, strings and
booleans, and compiled once for a program. It raises no error of its own: where a value is not what
the text was written for, the whole call is evaluated again by the rules for rows and columns.
"""
