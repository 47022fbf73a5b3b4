"""Continuous XQuery over XML feeds that correct themselves."""

__version__ = "0.1.0"
