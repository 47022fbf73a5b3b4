"""Dates, times and durations: their components, time zones, arithmetic."""
