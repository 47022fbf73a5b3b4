"""Dates and times of day, written once and drawn often."""

from bench.dice import Dice

DAYS = [(month, day) for month in range(1, 13) for day in range(1, 29)]
# As the auction document writes them, in its four years.
AUCTION_DATES = tuple(f"{m:02d}/{d:02d}/{year}" for year in range(1998, 2002) for m, d in DAYS)
DATES = tuple(f"{year}-{m:02d}-{d:02d}" for year in range(2008, 2025) for m, d in DAYS)
MINUTES = tuple(f"{hour:02d}:{minute:02d}" for hour in range(24) for minute in range(60))
SECONDS = tuple(f"{second:02d}" for second in range(60))


def time(dice: Dice) -> str:
    """HH:MM:SS."""
    return f"{dice.one(MINUTES)}:{dice.one(SECONDS)}"
